import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

/// Lists of sends walk rows, a bounded number of them.
struct SendListTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    private func withStorage(_ work: (SQLiteStorage, Hub.ID) async throws -> Void) async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "shop", settings: HubSettings(), at: now)).id
        try await work(storage, hub)
        await storage.close()
    }

    @discardableResult
    private func accept(
        _ storage: SQLiteStorage, _ hub: Hub.ID, to expression: String? = nil, dueIn seconds: Int? = nil,
        at second: Int = 0
    ) async throws -> NotificationID {
        let accepted = now + .seconds(second)
        let draft = NotificationDraft(
            id: NotificationID(at: accepted), hub: hub,
            content: .native(PlatformID(rawValue: "pigeon"), Message(body: [1], fields: [:])),
            target: .audience(try expression.map { try TagExpression($0) }), acceptedAt: accepted,
            dueAt: seconds.map { accepted + .seconds($0) }, expiresAt: accepted + .seconds(3600))
        _ = try await storage.accept(draft)
        return draft.id
    }

    /// Makes the next send get a number so much higher, as if others had come between.
    private func skip(_ count: Int64, in storage: SQLiteStorage) async throws {
        try await storage.writer.write { connection throws(StorageError) in
            try connection.run("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'notifications'", count)
        }
    }

    @Test func pagesAreNewestFirstAndOfOneHub() async throws {
        try await withStorage { storage, hub in
            let other = try #require(try await storage.createHub(name: "other", settings: HubSettings(), at: now)).id
            var ids: [NotificationID] = []
            for second in 0..<5 {
                ids.append(try await accept(storage, hub, at: second))
                try await accept(storage, other, at: second)
            }
            var found: [NotificationID] = []
            var before: Int64?
            repeat {
                let page = try await storage.sends(SendQuery(hub: hub, before: before, limit: 2))
                #expect(!page.isPartial)
                found += page.entries.map(\.report.notification.id)
                before = page.next
            } while before != nil
            #expect(found == ids.reversed())
            #expect(try await storage.send(ids[0], in: hub)?.report.notification.id == ids[0])
            #expect(try await storage.send(ids[0], in: other) == nil)
        }
    }

    @Test func aPageEndsWhereItHasLookedThroughEnough() async throws {
        try await withStorage { storage, hub in
            let first = try await accept(storage, hub)
            try await skip(SendQuery.scanLimit, in: storage)
            let last = try await accept(storage, hub, at: 1)
            let page = try await storage.sends(SendQuery(hub: hub, limit: 10))
            #expect(page.isPartial && page.entries.map(\.report.notification.id) == [last])
            let rest = try await storage.sends(SendQuery(hub: hub, before: page.next, limit: 10))
            #expect(!rest.isPartial && rest.entries.map(\.report.notification.id) == [first])
        }
    }

    @Test func phasesAndTimesFilter() async throws {
        try await withStorage { storage, hub in
            let first = try await accept(storage, hub)
            let later = try await accept(storage, hub, dueIn: 60, at: 5)
            for (phase, ids) in [(SendQuery.Phase.running, [first]), (.scheduled, [later]), (.ended, []), (.held, [])] {
                let page = try await storage.sends(SendQuery(hub: hub, phase: phase, limit: 10))
                #expect(page.entries.map(\.report.notification.id) == ids, "\(phase)")
            }
            let since = try await storage.sends(SendQuery(hub: hub, since: now + .seconds(1), limit: 10))
            #expect(since.entries.map(\.report.notification.id) == [later])
        }
    }

    @Test func targetsAreThoseThatHaveBegun() async throws {
        try await withStorage { storage, hub in
            try await accept(storage, hub, to: "news && !beta")
            try await accept(storage, hub, dueIn: 60)
            let all = try await storage.sendTargets(in: hub, before: nil, window: 10)
            #expect(all.targets.map(\.expression) == ["news && !beta"] && all.next == nil)
            let none = try await storage.sendTargets(in: hub, before: nil, window: 1)
            #expect(none.targets.isEmpty && none.next == 2)
        }
    }

    @Test func aListNeitherSortsNorScans() async throws {
        try await withStorage { storage, _ in
            for phase in [nil] + SendQuery.Phase.allCases.map(Optional.some) {
                let sql = "EXPLAIN QUERY PLAN \(SendListTable.listing(phase))"
                let plan = try await storage.readers.read { connection throws(StorageError) in
                    try connection.all(sql) { $0.text(3) }
                }
                #expect(plan == ["SEARCH notifications USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"])
            }
        }
    }

    @Test func tagsAreListedByBeginningsAndTheirBeginningsBySkipping() async throws {
        try await withStorage { storage, hub in
            let tags = ["city:bern", "city:oslo", "lang:de", "news", "username:alice"]
            for (index, tag) in tags.enumerated() {
                let draft = RegistrationDraft(
                    platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("h\(index)"), handleKey: "h\(index)",
                    tags: [try Tag(tag)], template: nil, pushVariables: [:], expiresAt: nil, takesHandle: false)
                _ = try await storage.apply(.put(draft, id: "\(index)", condition: .none), in: hub, at: now).get()
            }
            let cities = try await storage.tagNames(beginningWith: "city:", after: nil, in: hub, limit: 10)
            #expect(cities == ["city:bern", "city:oslo"])
            let further = try await storage.tagNames(beginningWith: "", after: "lang:de", in: hub, limit: 1)
            #expect(further == ["news"])
            let found = try await storage.tagPrefixes(in: hub, steps: 10)
            #expect(found.prefixes == ["city:", "lang:", "username:"] && found.hasPlain && found.isComplete)
            #expect(try await storage.tagPrefixes(in: hub, steps: 2).isComplete == false)
        }
    }
}
