import MartletCore
import MartletModel

extension StorageConformance {
    static let sharedHandles: [Requirement] = [
        Requirement("Registrations of one handle share a channel, whatever the spelling") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "ABC", ["x"], in: hub)
            try await bench.put("2", "abc", ["x"], in: hub)
            let audience = try await bench.audience(hub, "x")
            try require(audience.handles, is: ["abc"], "the last spelling")
            try require(audience.skipped, is: 1)
        },
        Requirement("A channel stands until its last registration goes") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            try await bench.put("2", "a", in: hub)
            let channel = try await bench.audience(hub).channels
            _ = try await bench.refusalOfDelete("1", in: hub)
            try require(try await bench.audience(hub).channels, is: channel)
            _ = try await bench.refusalOfDelete("2", in: hub)
            try require(try await bench.audience(hub).channels, is: [])
            try await bench.put("3", "a", in: hub)
            let next = try require(try await bench.audience(hub).channels.first)
            try require(channel[0] < next, is: true, "ids are never used again")
        },
        Requirement("A handle changes hands in one write, and the old id is gone") { bench in
            let hub = try await bench.hub()
            try await bench.put("alice-1", "phone", ["username:alice"], in: hub)
            try await bench.put("alice-2", "PHONE", ["username:alice"], in: hub)
            try await bench.put("tablet", "tablet", ["username:alice"], in: hub)
            try await bench.put("bob", "Phone", ["username:bob"], in: hub, takesHandle: true)
            try require(try await bench.audience(hub, "username:alice").handles, is: ["tablet"])
            try require(try await bench.audience(hub, "username:bob").handles, is: ["Phone"])
            for id in ["alice-1", "alice-2"] {
                try require(try await bench.registration(id, in: hub) == nil, is: true)
                try require(try await bench.refusalOfPut(id, "phone", in: hub), is: .gone)
            }
        },
        Requirement("A refused write takes no handle") { bench in
            let hub = try await bench.hub()
            try await bench.put("alice", "phone", ["username:alice"], in: hub)
            let change = RegistrationChange.put(
                try bench.draft("phone", takesHandle: true), id: "bob", condition: .exists)
            _ = try await bench.storage.apply(change, in: hub, at: bench.now)
            try require(try await bench.audience(hub, "username:alice").handles, is: ["phone"])
        },
        Requirement("Taking a handle leaves the same text of other platforms and hubs alone") { bench in
            let (hub, other) = (try await bench.hub("one"), try await bench.hub("two"))
            try await bench.put("1", "phone", in: hub, on: bench.otherPlatform)
            try await bench.put("1", "phone", in: other)
            try await bench.put("2", "phone", in: hub, takesHandle: true)
            try require(try await bench.registration("1", in: hub) == nil, is: false)
            try require(try await bench.registration("1", in: other) == nil, is: false)
        },
        Requirement("Taking one's own handle again changes nobody else") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "phone", ["x"], in: hub, takesHandle: true)
            try await bench.put("1", "phone", ["x"], in: hub, takesHandle: true)
            try require(try await bench.registration("1", in: hub)?.version, is: 2)
            try require(try await bench.audience(hub, "x").handles, is: ["phone"])
        },
    ]

    static let feedback: [Requirement] = [
        Requirement("A dead channel goes with all its registrations, whose ids are gone") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x"], in: hub)
            try await bench.put("2", "a", ["y"], in: hub)
            try await bench.put("3", "b", ["x"], in: hub)
            let dead = try await bench.audience(hub).channels[0]
            let removed = try await bench.storage.apply(
                [ChannelFeedback(channel: dead, kind: .gone(asOf: nil))], in: hub, at: bench.now)
            try require(removed, is: 1)
            try require(try await bench.audience(hub).handles, is: ["b"])
            try require(try await bench.refusalOfPut("1", "a", in: hub), is: .gone)
            try require(try await bench.refusalOfPut("2", "a", in: hub), is: .gone)
        },
        Requirement("A channel that was registered after its death was noticed stays") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            try await bench.put("1", "a", in: hub, at: bench.now + .seconds(10))
            let channel = try await bench.audience(hub).channels[0]
            func report(_ seconds: Int64) async throws -> Int {
                let kind = ChannelFeedback.Kind.gone(asOf: bench.now + .seconds(seconds))
                return try await bench.storage.apply(
                    [ChannelFeedback(channel: channel, kind: kind)], in: hub, at: bench.now)
            }
            try require(try await report(9), is: 0)
            try require(try await bench.audience(hub).handles, is: ["a"])
            try require(try await report(10), is: 1)
        },
        Requirement("Feedback on a channel of another hub, or on none, does nothing") { bench in
            let (hub, other) = (try await bench.hub("one"), try await bench.hub("two"))
            try await bench.put("1", "a", in: hub)
            let channel = try await bench.audience(hub).channels[0]
            let items = [channel, ChannelID(rawValue: 999)].map { ChannelFeedback(channel: $0, kind: .gone(asOf: nil)) }
            try require(try await bench.storage.apply(items, in: other, at: bench.now), is: 0)
            try require(try await bench.audience(hub).handles, is: ["a"])
        },
        Requirement("A channel that moved has its new handle at once") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "Old", ["x"], in: hub)
            let channel = try await bench.audience(hub).channels[0]
            let item = ChannelFeedback(channel: channel, kind: .moved(PushHandle("New"), key: "new"))
            try require(try await bench.storage.apply([item], in: hub, at: bench.now), is: 0)
            try require(try await bench.audience(hub, "x").handles, is: ["New"])
            try require(try await bench.audience(hub, "x").channels, is: [channel])
            let registration = try require(try await bench.registration("1", in: hub))
            try require(registration.handle, is: PushHandle("New"))
            try require(registration.version, is: 2)
        },
        Requirement("A channel that moved to a handle that is there joins its channel") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "old", ["x"], in: hub)
            try await bench.put("2", "new", ["x"], in: hub)
            let channels = try await bench.audience(hub).channels
            let item = ChannelFeedback(channel: channels[0], kind: .moved(PushHandle("new"), key: "new"))
            _ = try await bench.storage.apply([item], in: hub, at: bench.now)
            let audience = try await bench.audience(hub, "x")
            try require(audience.channels, is: [channels[1]])
            try require(audience.skipped, is: 1)
            try require(try await bench.registration("1", in: hub)?.handle, is: PushHandle("new"))
        },
        Requirement("A channel is suspected until it is trusted, registered again, moved or gone") { bench in
            let (hub, other) = (try await bench.hub("one"), try await bench.hub("two"))
            for name in ["a", "b", "c", "d", "e"] { try await bench.put(name, name, in: hub) }
            try await bench.put("a", "a", in: other)
            let channels = try await bench.audience(hub).channels
            func say(_ kind: ChannelFeedback.Kind, of channels: some Sequence<ChannelID>) async throws {
                let items = channels.map { ChannelFeedback(channel: $0, kind: kind) }
                try require(try await bench.storage.apply(items, in: hub, at: bench.now), is: 0)
            }
            func suspectedStale(limit: Int = 10) async throws -> [ChannelID] {
                try await bench.storage.suspectedStale(of: bench.platform, in: hub, limit: limit)
            }
            try await say(.suspected, of: channels.reversed())
            try await say(.suspected, of: channels)
            try require(try await suspectedStale(), is: channels)
            try require(try await suspectedStale(limit: 2), is: Array(channels.prefix(2)))
            try require(
                try await bench.storage.suspectedStale(of: bench.platform, in: other, limit: 10), is: [])
            try require(try await bench.storage.suspectedStale(of: bench.otherPlatform, in: hub, limit: 10), is: [])
            try await say(.trusted, of: [channels[0]])
            try await bench.put("b", "b", in: hub)
            try await say(.moved(PushHandle("f"), key: "f"), of: [channels[2]])
            _ = try await bench.refusalOfDelete("d", in: hub)
            try require(try await suspectedStale(), is: [channels[4]])
        },
    ]

    static let listings: [Requirement] = [
        Requirement("A listing goes by first creation, in pages, and survives what comes and goes") { bench in
            let hub = try await bench.hub()
            for number in 1...7 { try await bench.put("\(number)", "h\(8 - number)", in: hub) }
            try await bench.put("2", "elsewhere", in: hub)
            try require(try await bench.list(hub, pageSize: 3), is: [["1", "2", "3"], ["4", "5", "6"], ["7"]])
            try require(try await bench.list(hub, pageSize: 7), is: [["1", "2", "3", "4", "5", "6", "7"]])
            let query = RegistrationQuery(hub: hub, filter: .all, limit: 3, now: bench.now)
            let first = try await bench.storage.registrations(query)
            for id in ["3", "4"] { _ = try await bench.refusalOfDelete(id, in: hub) }
            try await bench.put("8", "h8", in: hub)
            var rest = query
            rest.after = first.next
            try require(try await bench.storage.registrations(rest).registrations.map(\.id), is: ["5", "6", "7"])
        },
        Requirement("A listing by tag finds every platform and spelling") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["News"], in: hub)
            try await bench.put("2", "b", ["other"], in: hub)
            try await bench.put("3", "c", ["NEWS"], in: hub, on: bench.otherPlatform)
            let tag = try Tag("news")
            try require(try await bench.list(hub, .tag(tag), pageSize: 1), is: [["1"], ["3"]])
            try require(try await bench.list(hub, .tag(try Tag("none"))), is: [[]])
        },
        Requirement("A listing by handle finds its registrations, on one platform or on any") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "ABBA", in: hub)
            try await bench.put("2", "abba", in: hub)
            try await bench.put("3", "abba", in: hub, on: bench.otherPlatform)
            try await bench.put("4", "other", in: hub)
            let one = RegistrationQuery.Filter.handle(platform: bench.platform, key: "abba")
            try require(try await bench.list(hub, one, pageSize: 1), is: [["1"], ["2"]])
            try require(try await bench.list(hub, .handle(platform: nil, key: "abba")), is: [["1", "2", "3"]])
            try require(try await bench.list(hub, .handle(platform: nil, key: "none")), is: [[]])
        },
    ]
}
