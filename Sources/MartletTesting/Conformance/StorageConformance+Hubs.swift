import MartletCore
import MartletModel

extension StorageConformance {
    static let hubs: [Requirement] = [
        Requirement("A hub keeps its name, its rules in order and its time") { bench in
            let rules = ["b", "a"].map { AccessRule(name: $0, rights: [.listen, .send], at: bench.now) }
            _ = try await bench.storage.createHub(name: "Loft.One", accessRules: rules, at: bench.now)
            let hub = try require(try await bench.storage.hubs().first)
            try require(hub.name, is: "Loft.One")
            try require(hub.accessRules, is: rules)
            try require(hub.createdAt, is: bench.now)
        },
        Requirement("A hub's name is taken whatever its case") { bench in
            _ = try await bench.hub("loft")
            let second = try await bench.storage.createHub(name: "LOFT", accessRules: [], at: bench.now)
            try require(second == nil, is: true)
        },
        Requirement("Hubs are listed by name without case") { bench in
            for name in ["b", "C", "A"] { _ = try await bench.hub(name) }
            try require(try await bench.storage.hubs().map(\.name), is: ["A", "b", "C"])
        },
        Requirement("An update replaces rules and credentials") { bench in
            _ = try await bench.storage.createHub(
                name: "loft", accessRules: [AccessRule(name: "old", rights: .send, at: bench.now)], at: bench.now)
            var hub = try require(try await bench.storage.hubs().first)
            hub.accessRules = [AccessRule(name: "new", rights: .manage, at: bench.now)]
            hub.credentials = [
                bench.platform: Credential(["Whistle": "secret\n\"x\"", "Endpoint": ""]),
                bench.otherPlatform: Credential([:]),
            ]
            try require(try await bench.storage.updateHub(hub), is: true)
            let stored = try require(try await bench.storage.hubs().first)
            try require(stored.accessRules, is: hub.accessRules)
            try require(stored.credentials == hub.credentials, is: true, "credentials")
        },
        Requirement("A hub that is not there is neither updated nor removed") { bench in
            let id = try await bench.hub()
            let hub = try require(try await bench.storage.hubs().first)
            try require(try await bench.storage.deleteHub(id), is: true)
            try require(try await bench.storage.deleteHub(id), is: false)
            try require(try await bench.storage.updateHub(hub), is: false)
            try require(try await bench.refusalOfPut("1", "a", in: id), is: .notFound)
        },
        Requirement("A hub goes with all that belongs to it, and others stay") { bench in
            let (gone, kept) = (try await bench.hub("gone"), try await bench.hub("kept"))
            for hub in [gone, kept] { try await bench.put("1", "a", ["x"], in: hub) }
            let lost = try await bench.accept(gone)
            let open = try await bench.accept(kept)
            _ = try await bench.storage.deleteHub(gone)
            try require(try await bench.registration("1", in: gone) == nil, is: true)
            try require(try await bench.audience(gone, "x").handles, is: [])
            try require(try await bench.list(gone), is: [[]])
            try require(try await bench.storage.report(lost.id, in: gone) == nil, is: true)
            try require(try await bench.unfinished(), is: [open.sequence])
            try require(try await bench.audience(kept, "x").handles, is: ["a"])
        },
        Requirement("The name of a removed hub can be used again, its id never") { bench in
            let first = try await bench.hub("loft")
            try await bench.put("1", "a", in: first)
            _ = try await bench.storage.deleteHub(first)
            let second = try await bench.hub("loft")
            try require(second == first, is: false)
            try require(try await bench.list(second), is: [[]])
        },
    ]
}
