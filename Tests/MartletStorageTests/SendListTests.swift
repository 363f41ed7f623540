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
        at second: Int = 0, by author: SendAuthor? = nil
    ) async throws -> NotificationID {
        let accepted = now + .seconds(second)
        var draft = NotificationDraft(
            id: NotificationID(at: accepted), hub: hub,
            content: .native(PlatformID(rawValue: "pigeon"), Message(body: [1], fields: [:])),
            target: .audience(try expression.map { try TagExpression($0) }), acceptedAt: accepted,
            dueAt: seconds.map { accepted + .seconds($0) }, expiresAt: accepted + .seconds(3600))
        draft.author = author
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

    @Test func authorsAreToldAndFilter() async throws {
        try await withStorage { storage, hub in
            let authors: [SendAuthor?] = [.key("Orders"), .user("Alice"), .operator("ops"), .administrator, nil]
            var ids: [NotificationID] = []
            for (second, author) in authors.enumerated() {
                ids.append(try await accept(storage, hub, at: second, by: author))
            }
            try await accept(storage, hub, at: 9, by: .key("Orders"))
            let all = try await storage.sends(SendQuery(hub: hub, limit: 10))
            #expect(
                all.entries.map(\.origin.text) == [
                    "key:Orders", nil, "administrator", "operator:ops", "user:alice", "key:Orders",
                ])
            #expect(try await storage.status(ids[2], in: hub)?.origin.author == .operator("ops"))
            #expect(try await storage.traced(ids[1], in: hub)?.origin.author == .user("alice"))
            for (index, author) in authors.enumerated() {
                guard let author, author != .key("Orders") else { continue }
                let page = try await storage.sends(SendQuery(hub: hub, author: .named(author), limit: 10))
                #expect(page.entries.map(\.report.notification.id) == [ids[index]], "\(author)")
            }
            // A key of another case is another key.
            let none = try await storage.sends(SendQuery(hub: hub, author: .named(.key("orders")), limit: 10))
            #expect(none.entries.isEmpty)
        }
    }

    @Test func aScheduleIsOfWhoChangedItLast() async throws {
        try await withStorage { storage, hub in
            let id = try await accept(storage, hub, dueIn: 60, by: .key("Orders"))
            var draft = NotificationDraft(
                id: id, hub: hub, content: .native(PlatformID(rawValue: "pigeon"), Message(body: [2], fields: [:])),
                target: .audience(nil), acceptedAt: now, dueAt: now + .seconds(90), expiresAt: now + .seconds(3600))
            draft.author = .operator("ops")
            guard case .replaced = try await storage.replace(draft) else {
                Issue.record("The schedule was not replaced.")
                return
            }
            #expect(try await storage.send(id, in: hub)?.origin.author == .operator("ops"))
        }
    }

    @Test func aRemovedUserIsForgottenAndTheNumberIsNotUsedAgain() async throws {
        try await withStorage { storage, hub in
            try await storage.putUser(User(name: "Alice", passwordHash: "", createdAt: now))
            let id = try await accept(storage, hub, by: .user("alice"))
            #expect(try await storage.removeUser("ALICE"))
            try await accept(storage, hub, at: 1, by: .user("bob"))
            #expect(try await storage.send(id, in: hub)?.origin.author == nil)
        }
    }

    @Test func aCanaryThatHoldsIsHeldAndNotRunning() async throws {
        try await withStorage { storage, hub in
            let id = try await accept(storage, hub)
            try await storage.writer.write { connection throws(StorageError) in
                let sequence = try connection.first("SELECT max(sequence) FROM notifications") { $0.integer(0) }
                try connection.run("UPDATE notifications SET finished_at = NULL, has_parts = 1")
                try connection.run(
                    "INSERT INTO rollouts (notification, sample_size, held_at, wait) VALUES (?, 1, 5, 600)", sequence)
                try connection.run(
                    "INSERT INTO parts (notification, number, side, expires_at) VALUES (?, 1, ?, 9000000000000)",
                    sequence,
                    SampleSide.rest.rawValue)
            }
            let held = try await storage.sends(SendQuery(hub: hub, phase: .held, limit: 10))
            #expect(held.entries.map(\.report.notification.id) == [id] && held.entries.first?.isHolding == true)
            #expect(held.entries.first?.goesOnAt == Timestamp(milliseconds: 605))
            #expect(try await storage.sends(SendQuery(hub: hub, phase: .running, limit: 10)).entries.isEmpty)
            try await storage.writer.write { connection throws(StorageError) in
                try connection.run("UPDATE rollouts SET released_at = 6")
            }
            let running = try await storage.sends(SendQuery(hub: hub, phase: .running, limit: 10))
            #expect(running.entries.map(\.isHolding) == [false] && running.entries.first?.goesOnAt == nil)
        }
    }

    @Test func whatIsHeldIsListedHoweverManySendsCameLater() async throws {
        try await withStorage { storage, hub in
            let id = try await accept(storage, hub)
            _ = try await storage.control(.pause, id, in: hub, at: now)
            try await skip(SendQuery.scanLimit, in: storage)
            try await accept(storage, hub, at: 1)
            let page = try await storage.sends(SendQuery(hub: hub, phase: .held, limit: 10))
            #expect(!page.isPartial && page.next == nil && page.entries.map(\.report.notification.id) == [id])
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
                let authors: [SendQuery.Author?] = [
                    nil, .named(.administrator), .resends, .resendsOf(NotificationID(at: now)),
                ]
                for author in authors {
                    let sql = "EXPLAIN QUERY PLAN \(SendListTable.listing(phase, author))"
                    let plan = try await storage.readers.read { connection throws(StorageError) in
                        try connection.all(sql) { $0.text(3) }
                    }
                    // Two indices have only the rows of sends that are held or have parts that wait.
                    let held = [
                        "SCAN notifications USING INDEX notifications_controlled",
                        "SCAN parts USING INDEX parts_waiting", "UNION USING TEMP B-TREE",
                    ]
                    let isHeld = phase == .held
                    #expect(
                        plan.first == "SEARCH notifications USING INTEGER PRIMARY KEY "
                            + (isHeld ? "(rowid=?)" : "(rowid>? AND rowid<?)"))
                    let costly = plan.filter { $0.contains("SCAN") || $0.contains("TEMP B-TREE") }
                    #expect(Set(costly) == Set(isHeld ? held : []))
                }
            }
        }
    }

    @Test func devicesThatAUserHadAreFoundByPortionsNewestFirst() async throws {
        try await withStorage { storage, hub in
            let alice = try MartletModel.Tag("username:Alice")
            func put(_ id: String, _ user: String, at seconds: Int64) async throws {
                let draft = RegistrationDraft(
                    platform: PlatformID(rawValue: "pigeon"), handle: PushHandle(id), handleKey: id,
                    tags: [try MartletModel.Tag("username:\(user)")])
                _ = try await storage.apply(.put(draft, id: id, condition: .none), in: hub, at: now + .seconds(seconds))
                    .get()
            }
            func former(before: Int64? = nil, window: Int64 = 100) async throws -> FormerRegistrations {
                try await storage.formerRegistrations(with: alice, in: hub, before: before, window: window)
            }
            let none = try await former()
            #expect(none.versions.isEmpty && none.next == nil)
            // One device is removed, one gets another user, one stays, and one was never hers.
            for id in ["removed", "given", "kept"] { try await put(id, "alice", at: 0) }
            try await put("bobs", "AliceB", at: 0)
            for id in ["removed", "bobs"] {
                let removal = RegistrationChange.delete(id: id, condition: .none)
                _ = try await storage.apply(removal, in: hub, at: now + .seconds(10)).get()
            }
            try await put("given", "bob", at: 20)
            let found = try await former()
            #expect(found.versions.map(\.id) == ["given", "removed"])
            #expect(found.versions.map(\.end?.cause) == [.changed, .deleted])
            #expect(found.versions.first?.end?.at == now + .seconds(20))
            #expect(found.next == nil && found.lookedBackTo == now + .seconds(10))
            let first = try await former(window: 1)
            #expect(first.versions.map(\.id) == ["given"] && first.lookedBackTo == now + .seconds(20))
            let rest = try await former(before: first.next, window: 2)
            #expect(rest.versions.map(\.id) == ["removed"] && rest.next == nil)
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
