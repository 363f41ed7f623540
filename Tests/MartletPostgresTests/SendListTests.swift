import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

/// Lists of sends walk through the rows of a hub, a bounded number of them.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct SendListTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    private func withHub(_ work: (PostgresStorage, Hub.ID) async throws -> Void) async throws {
        try await TestDatabase.with { storage in
            try await work(
                storage, try #require(try await storage.createHub(name: "shop", settings: HubSettings(), at: now)).id)
        }
    }

    @discardableResult
    private func accept(
        _ storage: PostgresStorage, _ hub: Hub.ID, to expression: String? = nil, dueIn seconds: Int? = nil,
        at second: Int = 0, by author: SendAuthor? = nil
    ) async throws -> NotificationID {
        let accepted = now + .seconds(second)
        var draft = NotificationDraft(
            id: NotificationID(at: accepted), hub: hub,
            content: .native(PlatformID(rawValue: "pigeon"), Message(body: [1], fields: [:])),
            target: .audience(try expression.map { try TagExpression($0) }), acceptedAt: accepted,
            dueAt: seconds.map { accepted + .seconds($0) }, expiresAt: accepted + .seconds(3600))
        draft.author = author
        // A delivery, so that the notification does not end at once.
        let device = RegistrationDraft(
            platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("h"), handleKey: "h", tags: [])
        _ = try await storage.apply(.put(device, id: "1", condition: .none), in: hub, at: now).get()
        _ = try await storage.accept(draft)
        return draft.id
    }

    /// Makes the next send get a number so much higher, as if others had come between.
    private func skip(_ count: Int64, in storage: PostgresStorage) async throws {
        try await storage.transaction { connection, patience throws(DatabaseFailure) in
            let skipping = Statement.rare([.int8], "UPDATE send_ordinals SET notifications = notifications + $1")
            _ = try connection.run(Batch(skipping) { $0.add(count) }, patience)
        }
    }

    private func ids(_ storage: PostgresStorage, _ query: SendQuery) async throws -> [NotificationID] {
        try await storage.sends(query).entries.map(\.report.notification.id)
    }

    @Test func pagesAreNewestFirstAndOfOneHub() async throws {
        try await withHub { storage, hub in
            let other = try #require(try await storage.createHub(name: "other", settings: HubSettings(), at: now)).id
            var made: [NotificationID] = []
            for second in 0..<5 {
                made.append(try await accept(storage, hub, at: second))
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
            #expect(found == made.reversed())
            #expect(try await storage.send(made[0], in: hub)?.report.notification.id == made[0])
            #expect(try await storage.send(made[0], in: other) == nil)
        }
    }

    @Test func aPageEndsWhereItHasLookedThroughEnoughUnlessSomethingIsHeld() async throws {
        try await withHub { storage, hub in
            let first = try await accept(storage, hub)
            _ = try await storage.control(.pause, first, in: hub, at: now)
            try await skip(SendQuery.scanLimit, in: storage)
            let last = try await accept(storage, hub, at: 1)
            let page = try await storage.sends(SendQuery(hub: hub, limit: 10))
            #expect(page.isPartial && page.entries.map(\.report.notification.id) == [last])
            #expect(try await ids(storage, SendQuery(hub: hub, before: page.next, limit: 10)) == [first])
            let held = try await storage.sends(SendQuery(hub: hub, phase: .held, limit: 10))
            #expect(!held.isPartial && held.next == nil && held.entries.map(\.report.notification.id) == [first])
        }
    }

    @Test func phasesTimesPlatformsAndAuthorsFilter() async throws {
        try await withHub { storage, hub in
            let first = try await accept(storage, hub, by: .key("Orders"))
            let later = try await accept(storage, hub, dueIn: 60, at: 5, by: .user("Alice"))
            for (phase, wanted) in [
                (SendQuery.Phase.running, [first]), (.scheduled, [later]), (.ended, []), (.held, []),
            ] {
                #expect(try await ids(storage, SendQuery(hub: hub, phase: phase, limit: 10)) == wanted, "\(phase)")
            }
            #expect(try await ids(storage, SendQuery(hub: hub, since: now + .seconds(1), limit: 10)) == [later])
            let named = SendQuery(hub: hub, author: .named(.key("Orders")), limit: 10)
            #expect(try await ids(storage, named) == [first])
            #expect(try await ids(storage, SendQuery(hub: hub, author: .resends, limit: 10)).isEmpty)
            #expect(try await ids(storage, SendQuery(hub: hub, author: .resendsOf(first), limit: 10)).isEmpty)
            #expect(
                try await ids(storage, SendQuery(hub: hub, platform: PlatformID(rawValue: "dove"), limit: 10)).isEmpty)
        }
    }

    @Test func aRemovedUserIsForgottenAsAuthor() async throws {
        try await withHub { storage, hub in
            try await storage.putUser(User(name: "Alice", passwordHash: "", createdAt: now))
            let id = try await accept(storage, hub, by: .user("alice"))
            let other = try await accept(storage, hub, at: 1, by: .user("bob"))
            #expect(try await storage.send(id, in: hub)?.origin.author == .user("alice"))
            #expect(try await storage.removeUser("ALICE"))
            #expect(try await storage.send(id, in: hub)?.origin.author == nil)
            #expect(try await storage.send(other, in: hub)?.origin.author == .user("bob"))
        }
    }

    @Test func aCanaryThatHoldsIsHeldAndSaysUntilWhen() async throws {
        try await withHub { storage, hub in
            let id = try await accept(storage, hub)
            try await storage.transaction { connection, patience throws(DatabaseFailure) in
                var batch = Batch(
                    .rare(
                        [],
                        "UPDATE notifications SET has_parts = true, sample_size = 1, held_at = 5, wait = 600"))
                batch.add(
                    .rare(
                        [],
                        """
                        INSERT INTO parts (shard, notification, number, side, expires_at)
                        SELECT shard, sequence, 1, 1, 9000000000000 FROM notifications
                        """))
                _ = try connection.run(batch, patience)
            }
            let held = try await storage.sends(SendQuery(hub: hub, phase: .held, limit: 10))
            #expect(held.entries.map(\.report.notification.id) == [id] && held.entries.first?.isHolding == true)
            #expect(held.entries.first?.goesOnAt == Timestamp(milliseconds: 605))
            #expect(try await ids(storage, SendQuery(hub: hub, phase: .running, limit: 10)).isEmpty)
        }
    }

    @Test func targetsAreThoseThatHaveBegun() async throws {
        try await withHub { storage, hub in
            try await accept(storage, hub, to: "news && !beta")
            try await accept(storage, hub, dueIn: 60)
            let all = try await storage.sendTargets(in: hub, before: nil, window: 10)
            #expect(all.targets.map(\.expression) == ["news && !beta"] && all.next == nil)
            let none = try await storage.sendTargets(in: hub, before: nil, window: 1)
            #expect(none.targets.isEmpty && none.next != nil)
        }
    }
}
