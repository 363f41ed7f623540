import MartletCore
import MartletModel

extension StorageConformance {
    static let installationHandles: [Requirement] = [
        Requirement("A dead channel takes the rows of installations, whose slots are noted until the next write") {
            bench in
            let hub = try await bench.hub()
            let rows = [
                "a": try bench.draft("phone", ["x"]), "b": try bench.draft("PHONE", template: Template(body: "{}")),
                "c": try bench.draft("tile"),
            ]
            try await bench.put(bench.installation("i", rows), in: hub)
            try await bench.put("alone", "phone", in: hub)
            let dead = try require(try await bench.audience(hub, "x").channels.first)
            let id = try require(try await bench.rows(hub).first).id
            let removed = try await bench.storage.apply(
                [ChannelFeedback(channel: dead, kind: .gone(asOf: nil))], in: hub, at: bench.now)
            try require(removed, is: 1)
            try require(try await bench.audience(hub).handles, is: ["tile"])
            try require(try await bench.refusalOfPut("alone", "phone", in: hub), is: .gone)
            try require(try await bench.refusalOfDelete(id, in: hub), is: .notFound)
            let record = try require(try await bench.installation("i", in: hub))
            try require(record.deadSlots, is: ["a", "b"])
            try require(record.handles, is: ["c": PushHandle("tile")])
            try require(record.version, is: 1)

            let again = try await bench.put(bench.installation("i", rows), in: hub, .version(1))
            try require(again.deadSlots, is: [])
            try require(try await bench.installation("i", in: hub)?.deadSlots, is: [])
            try require(try await bench.audience(hub).handles.sorted(), is: ["PHONE", "tile"])
        },
        Requirement("A write of an installation tells that its handle lives") { bench in
            let hub = try await bench.hub()
            let draft = bench.installation("i", ["a": try bench.draft("phone")])
            try await bench.put(draft, in: hub)
            try await bench.put(draft, in: hub, at: bench.now + .seconds(10))
            let channel = try require(try await bench.audience(hub).channels.first)
            let kind = ChannelFeedback.Kind.gone(asOf: bench.now + .seconds(9))
            let removed = try await bench.storage.apply(
                [ChannelFeedback(channel: channel, kind: kind)], in: hub, at: bench.now)
            try require(removed, is: 0)
            try require(try await bench.installation("i", in: hub)?.deadSlots, is: [])
        },
        Requirement("An installation knows the handle that its channel moved to") { bench in
            let hub = try await bench.hub()
            try await bench.put("alone", "there", in: hub)
            try await bench.put(
                bench.installation("i", ["a": try bench.draft("one"), "b": try bench.draft("two")]), in: hub)
            let channels = try await bench.audience(hub).channels
            let items = [
                ChannelFeedback(channel: channels[1], kind: .moved(PushHandle("New"), key: "new")),
                ChannelFeedback(channel: channels[2], kind: .moved(PushHandle("there"), key: "there")),
            ]
            _ = try await bench.storage.apply(items, in: hub, at: bench.now)
            let record = try require(try await bench.installation("i", in: hub))
            try require(record.handles, is: ["a": PushHandle("New"), "b": PushHandle("there")])
            try require(record.deadSlots, is: [])
            try require(try await bench.rows(hub).map(\.version), is: [1, 2, 2])
        },
        Requirement("A registration that takes a handle leaves the slots that had it dead") { bench in
            let hub = try await bench.hub()
            let rows = ["a": try bench.draft("phone"), "b": try bench.draft("tile")]
            try await bench.put(bench.installation("i", rows), in: hub)
            try await bench.put("bob", "Phone", in: hub, takesHandle: true)
            try require(try await bench.rows(hub).map(\.id).contains("bob"), is: true)
            try require(try await bench.rows(hub).count, is: 2)
            let record = try require(try await bench.installation("i", in: hub))
            try require(record.handles, is: ["b": PushHandle("tile")])
            try require(record.deadSlots, is: ["a"])
        },
        Requirement("An installation that takes its handle leaves its own rows alone") { bench in
            let hub = try await bench.hub()
            try await bench.put("alone", "phone", in: hub)
            try await bench.put(bench.installation("other", ["x": try bench.draft("phone")]), in: hub)
            let rows = [
                "a": try bench.draft("phone", takesHandle: true),
                "b": try bench.draft("phone", template: Template(body: "{}"), takesHandle: true),
            ]
            for version in Int64(1)...2 {
                try require(try await bench.put(bench.installation("i", rows), in: hub).version, is: version)
                try require(try await bench.rows(hub).map(\.installation), is: ["i", "i"])
                try require(try await bench.rows(hub).map(\.version), is: [version, version])
            }
            try require(try await bench.refusalOfPut("alone", "phone", in: hub), is: .gone)
            try require(try await bench.installation("other", in: hub)?.deadSlots, is: ["x"])
            try require(try await bench.installation("i", in: hub)?.deadSlots, is: [])
        },
    ]
}
