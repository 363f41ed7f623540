import MartletCore
import MartletModel

extension StorageConformance {
    static let registrations: [Requirement] = [
        Requirement("A registration is read as it was written") { bench in
            let hub = try await bench.hub()
            let written = try await bench.put(
                "id-1", "AbC", ["Sport", "$InstallationId:{a-b}", "x:y"], in: hub,
                expiresAt: bench.now + .seconds(10))
            let read = try require(try await bench.registration("id-1", in: hub))
            for registration in [written, read] {
                try require(registration.handle, is: PushHandle("AbC"))
                try require(registration.platform, is: bench.platform)
                try require(
                    registration.tags.map(\.spelling), is: ["Sport", "$InstallationId:{a-b}", "x:y"])
                try require(registration.version, is: 1)
                try require(registration.createdAt, is: bench.now)
                try require(registration.updatedAt, is: bench.now)
                try require(registration.expiresAt, is: bench.now + .seconds(10))
            }
        },
        Requirement("Handles of every form come back as they were") { bench in
            let hub = try await bench.hub()
            let handles = ["00ff", "00FF1", "abc", "https://push.example/ä?x=1", "deadbeef", "0", "é", "DEADBEEF01"]
            for (number, handle) in handles.enumerated() { try await bench.put("\(number)", handle, in: hub) }
            for (number, handle) in handles.enumerated() {
                try require(try await bench.registration("\(number)", in: hub)?.handle, is: PushHandle(handle))
            }
            try require(try await bench.audience(hub).handles, is: handles)
        },
        Requirement("A handle of several parts comes back in its parts") { bench in
            let hub = try await bench.hub()
            let handle = PushHandle("https://push.example/1", "key", "")
            let draft = RegistrationDraft(
                platform: bench.platform, handle: handle, handleKey: "https://push.example/1", tags: [])
            _ = try await bench.storage.apply(.put(draft, id: "1", condition: .none), in: hub, at: bench.now)
            try require(try await bench.registration("1", in: hub)?.handle, is: handle)
        },
        Requirement("Each write counts the version up, keeps the first time and replaces the rest") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x", "y"], in: hub)
            let later = bench.now + .seconds(5)
            let second = try await bench.put("1", "b", ["Y", "z"], in: hub, at: later)
            try require(second.version, is: 2)
            let read = try require(try await bench.registration("1", in: hub))
            try require(read.version, is: 2)
            try require(read.createdAt, is: bench.now)
            try require(read.updatedAt, is: later)
            try require(read.tags.map(\.spelling), is: ["Y", "z"])
            try require(try await bench.audience(hub, "x").handles, is: [])
            try require(try await bench.audience(hub, "y && z").handles, is: ["b"])
            try require(try await bench.audience(hub).handles, is: ["b"], "the old handle's channel is gone")
        },
        Requirement("A registration can change its platform") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x"], in: hub)
            try await bench.put("1", "a", ["x"], in: hub, on: bench.otherPlatform)
            try require(try await bench.audience(hub, "x").handles, is: [])
            try require(try await bench.audience(hub, "x", on: bench.otherPlatform).handles, is: ["a"])
        },
        Requirement("A removed registration is given back, and its id is gone for good") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x"], in: hub)
            let change = RegistrationChange.delete(id: "1", condition: .none)
            let removed = try await bench.storage.apply(change, in: hub, at: bench.now)
            try require(try removed.get().handle, is: PushHandle("a"))
            try require(try await bench.registration("1", in: hub) == nil, is: true)
            try require(try await bench.refusalOfPut("1", "a", in: hub), is: .gone)
            try require(try await bench.refusalOfDelete("1", in: hub), is: .gone)
            try require(try await bench.audience(hub, "x").handles, is: [])
        },
        Requirement("An id that never was is not found") { bench in
            let hub = try await bench.hub()
            try require(try await bench.registration("1", in: hub) == nil, is: true)
            try require(try await bench.refusalOfDelete("1", in: hub), is: .notFound)
        },
        Requirement("Ids and handles of one hub mean nothing in another") { bench in
            let (first, second) = (try await bench.hub("first"), try await bench.hub("second"))
            try await bench.put("1", "a", ["x"], in: first)
            try await bench.put("1", "a", ["x"], in: second)
            try require(try await bench.refusalOfDelete("1", in: first), is: nil)
            try require(try await bench.registration("1", in: second)?.version, is: 1)
            try require(try await bench.audience(second, "x").handles, is: ["a"])
            try require(try await bench.audience(first, "x").handles, is: [])
        },
    ]

    static let conditions: [Requirement] = [
        Requirement("Where the registration is missing, only 'none' and 'tagged' create it") { bench in
            let hub = try await bench.hub()
            try require(try await bench.refusalOfPut("1", "a", in: hub, .exists), is: .notFound)
            try require(try await bench.refusalOfPut("1", "a", in: hub, .version(1)), is: .notFound)
            try require(try await bench.audience(hub).handles, is: [], "a refusal changes nothing")
            try require(try await bench.refusalOfPut("1", "a", in: hub, .tagged(try Tag("mine"))), is: nil)
            try require(try await bench.refusalOfPut("2", "a", in: hub, .none), is: nil)
            try require(
                try await bench.refusalOfDelete("3", in: hub, .tagged(try Tag("mine"))), is: .notFound)
        },
        Requirement("A write with a version happens only to that version") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            try require(try await bench.refusalOfPut("1", "b", in: hub, .version(2)), is: .versionMismatch)
            try require(try await bench.refusalOfDelete("1", in: hub, .version(2)), is: .versionMismatch)
            try require(try await bench.audience(hub).handles, is: ["a"])
            try require(try await bench.refusalOfPut("1", "b", in: hub, .version(1)), is: nil)
            try require(try await bench.refusalOfPut("1", "b", in: hub, .exists), is: nil)
            try require(try await bench.refusalOfDelete("1", in: hub, .version(3)), is: nil)
        },
        Requirement("A write of what must be absent happens only where nothing is") { bench in
            let hub = try await bench.hub()
            try require(try await bench.refusalOfPut("1", "a", in: hub, .absent), is: nil)
            try require(try await bench.refusalOfPut("1", "b", in: hub, .absent), is: .versionMismatch)
            try require(try await bench.audience(hub).handles, is: ["a"])
            let draft = bench.installation("i", ["a": try bench.draft("phone")])
            let change = InstallationChange.put(draft, condition: .absent)
            try await bench.put(draft, in: hub, .absent)
            try require(try await bench.refusal(ofInstallation: change, in: hub), is: .versionMismatch)
        },
        Requirement("Registrations with new ids are created in the order of all changes") { bench in
            let hub = try await bench.hub()
            try await bench.put("old", "h1", ["all"], in: hub)
            var changes: [RegistrationChange] = []
            for number in 0..<150 {
                let draft = try bench.draft(
                    "h\(number)", ["all", "parity:\(number % 2)", "N\(number)"],
                    on: number % 3 == 0 ? bench.otherPlatform : nil, variables: ["v": "\(number % 5)"])
                changes.append(.put(draft, id: "new\(number)", condition: .fresh))
                if number == 70 { changes.append(.delete(id: "new7", condition: .none)) }
            }
            // A handle of this call and one of before, each spelled otherwise than first.
            changes.append(.put(try bench.draft("H2", ["again"]), id: "again2", condition: .fresh))
            changes.append(.put(try bench.draft("H1", ["again"]), id: "again1", condition: .fresh))
            let results = try await bench.storage.apply(changes, in: hub, at: bench.now).map { try $0.get().id }
            try require(results.count, is: 153)
            try require(results.filter { $0 == "new7" }.count, is: 2)
            let ids = try await bench.list(hub).flatMap(\.self)
            let created = (0..<150).filter { $0 != 7 }.map { "new\($0)" }
            try require(ids, is: ["old"] + created + ["again2", "again1"])
            let stored = try require(try await bench.registration("new149", in: hub))
            try require(stored.version, is: 1)
            try require(stored.tags.map(\.spelling), is: ["all", "parity:1", "N149"])
            try require(stored.pushVariables, is: ["v": "4"])
            try require(try await bench.audience(hub, "n149").handles, is: ["h149"])
            try require(try await bench.audience(hub, "all && parity:1").handles.count, is: 49)
            try require(try await bench.audience(hub, "again").handles.sorted(), is: ["H1", "H2"])
            try require(try await bench.audience(hub, "n7").handles, is: [])
        },
        Requirement("A write to what must carry a tag happens only where it does") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["user:Alice"], in: hub)
            let (alice, bob) = (try Tag("USER:alice"), try Tag("user:bob"))
            try require(try await bench.refusalOfPut("1", "b", in: hub, .tagged(bob)), is: .notTagged)
            try require(try await bench.refusalOfDelete("1", in: hub, .tagged(bob)), is: .notTagged)
            try require(try await bench.refusalOfDelete("1", in: hub, .tagged(alice)), is: nil)
            try require(try await bench.refusalOfPut("1", "b", in: hub, .tagged(alice)), is: .gone)
        },
    ]

    static let expiry: [Requirement] = [
        Requirement("From its moment on, an expired registration is absent and its id gone") { bench in
            let hub = try await bench.hub()
            let end = bench.now + .seconds(10)
            try await bench.put("1", "a", ["x"], in: hub, expiresAt: end)
            let before = Timestamp(milliseconds: end.milliseconds - 1)
            try require(try await bench.registration("1", in: hub, at: before) == nil, is: false)
            try require(try await bench.audience(hub, "x", at: before).handles, is: ["a"])
            try require(try await bench.registration("1", in: hub, at: end) == nil, is: true)
            try require(try await bench.list(hub, at: end), is: [[]])
            try require(try await bench.list(hub, .tag(try Tag("x")), at: end), is: [[]])
            try require(try await bench.audience(hub, "x", at: end).handles, is: [])
            try require(try await bench.audience(hub, at: end).handles, is: [])
            try require(try await bench.refusalOfPut("1", "a", in: hub, at: end), is: .gone)
            try require(try await bench.refusalOfDelete("1", in: hub, at: end), is: .gone)
        },
        Requirement("A write before its end can take the expiry away") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub, expiresAt: bench.now + .seconds(10))
            try await bench.put("1", "a", in: hub)
            try require(try await bench.audience(hub, at: .distantFuture).handles, is: ["a"])
        },
        Requirement("An expired registration neither matches nor counts beside one that lives") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x"], in: hub, expiresAt: bench.now + .seconds(1))
            try await bench.put("2", "a", ["y"], in: hub)
            try await bench.put("3", "b", ["x"], in: hub, expiresAt: bench.now + .seconds(3))
            let then = bench.now + .seconds(2)
            try require(try await bench.audience(hub, "x", at: then).handles, is: ["b"])
            try require(try await bench.audience(hub, "x || y", at: then).skipped, is: 0)
            try require(try await bench.audience(hub, "x || y", at: then).handles, is: ["a", "b"])
        },
    ]
}
