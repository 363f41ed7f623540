import MartletCore
import MartletModel

extension StorageConformance {
    static let hubs: [Requirement] = [
        Requirement("A hub keeps its name, its settings and its time") { bench in
            let settings = HubSettings(
                accessRules: ["b", "a"].map { AccessRule(name: $0, rights: [.listen, .send], at: bench.now) },
                credentials: [bench.platform: Credential(["Whistle": "x"])], registrationTTL: .milliseconds(86_400_001),
                userMetadata: "<\u{1F426}>", limits: HubLimits(requestRate: 7, backlog: 1_000_000))
            let made = try require(
                try await bench.storage.createHub(name: "Loft.One", settings: settings, at: bench.now))
            for hub in [made, try require(try await bench.storage.hubs().first)] {
                try require(hub.name, is: "Loft.One")
                try require(hub.settings, is: settings)
                try require([hub.createdAt, hub.modifiedAt], is: [bench.now, bench.now])
            }
        },
        Requirement("A hub's name is taken whatever its case") { bench in
            _ = try await bench.hub("loft")
            let second = try await bench.storage.createHub(name: "LOFT", settings: HubSettings(), at: bench.now)
            try require(second == nil, is: true)
        },
        Requirement("Hubs are listed by name without case") { bench in
            for name in ["b", "C", "A"] { _ = try await bench.hub(name) }
            try require(try await bench.storage.hubs().map(\.name), is: ["A", "b", "C"])
        },
        Requirement("The first hub is the app backend's, and stays it") { bench in
            try require(try await bench.storage.backendHub(), is: nil)
            let (first, second) = (try await bench.hub("b"), try await bench.hub("a"))
            try require(try await bench.storage.backendHub(), is: first)
            _ = try await bench.storage.deleteHub(first)
            let third = try await bench.hub("b")
            try require(try await bench.storage.backendHub(), is: first)
            try await bench.storage.setBackendHub(second)
            try require(try await bench.storage.backendHub(), is: second)
            for hub in [second, third] { _ = try await bench.storage.deleteHub(hub) }
            let last = try await bench.hub("c")
            try require(try await bench.storage.backendHub(), is: last)
        },
        Requirement("An update replaces all settings, and says when") { bench in
            let old = HubSettings(
                accessRules: [AccessRule(name: "old", rights: .send, at: bench.now)], registrationTTL: .seconds(90_000),
                userMetadata: "old")
            let made = try require(try await bench.storage.createHub(name: "loft", settings: old, at: bench.now))
            let credentials = [
                bench.platform: Credential(["Whistle": "secret\n\"x\"", "Endpoint": ""]),
                bench.otherPlatform: Credential([:]),
            ]
            let new = HubSettings(
                accessRules: [AccessRule(name: "new", rights: .manage, at: bench.now)], credentials: credentials)
            let later = bench.now + .seconds(1)
            var before = made.settings
            for settings in [new, HubSettings(), old] {
                let update = try await bench.storage.updateHub(
                    made.id, settings: settings, replacing: before, at: later)
                try require(update, is: .stored)
                before = settings
                let stored = try require(try await bench.storage.hubs().first)
                try require(stored.settings, is: settings)
                try require([stored.createdAt, stored.modifiedAt], is: [bench.now, later])
            }
        },
        Requirement("A hub that is not there is neither updated nor removed") { bench in
            let id = try await bench.hub()
            try require(try await bench.storage.deleteHub(id), is: true)
            try require(try await bench.storage.deleteHub(id), is: false)
            let update = try await bench.storage.updateHub(
                id, settings: HubSettings(), replacing: HubSettings(), at: bench.now)
            try require(update, is: .absent)
            try require(try await bench.refusalOfPut("1", "a", in: id), is: .notFound)
        },
        Requirement("Settings and rules that another change has replaced are not replaced once more") { bench in
            let id = try await bench.hub()
            let old = try require(try await bench.storage.hubs().first).settings
            var (one, other) = (old, old)
            (one.userMetadata, other.userMetadata) = ("one", "other")
            let later = bench.now + .seconds(1)
            try require(
                try await bench.storage.updateHub(id, settings: one, replacing: old, at: later), is: .stored)
            try require(
                try await bench.storage.updateHub(id, settings: other, replacing: old, at: later), is: .changed)
            try require(try await bench.storage.hubs().first?.settings, is: one)
            let rules = ["a", "b"].map { [AccessRule(name: $0, rights: .all, at: bench.now)] }
            try require(try await bench.storage.setNamespaceRules(rules[0], replacing: []), is: true)
            try require(try await bench.storage.setNamespaceRules(rules[1], replacing: []), is: false)
            try require(try await bench.storage.namespaceRules(), is: rules[0])
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
            try require(try await bench.storage.report(lost.notification.id, in: gone) == nil, is: true)
            try require(try await bench.unfinished(), is: [open.id])
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
        Requirement("The namespace keeps its rules in order, whatever becomes of hubs") { bench in
            try require(try await bench.storage.namespaceRules(), is: [])
            for names in [["b", "a"], ["c"]] {
                let rules = names.map { AccessRule(name: $0, rights: .all, at: bench.now) }
                let old = try await bench.storage.namespaceRules()
                try require(try await bench.storage.setNamespaceRules(rules, replacing: old), is: true)
                _ = try await bench.storage.deleteHub(try await bench.hub())
                try require(try await bench.storage.namespaceRules(), is: rules)
            }
        },
    ]
}
