import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

struct BacklogTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    @Test func unfinishedDeliveriesAreCountedWithTheAgeOfTheOldest() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        #expect(try await storage.backlog() == Backlog(deliveries: 0, notifications: 0, oldest: nil))
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        for seconds in [0, 5] { _ = try await storage.broadcast(of: [1], in: hub, at: now + .seconds(seconds)) }
        #expect(try await storage.backlog() == Backlog(deliveries: 2, notifications: 2, oldest: now))
        let first = try #require(try await storage.unfinished(after: .none, limit: 1).first).delivery
        try await storage.record(
            DeliveryStep(delivery: first.id, isFannedOut: true, state: .completed, endedAt: now))
        #expect(
            try await storage.backlog()
                == Backlog(deliveries: 1, notifications: 1, oldest: now + .seconds(5)))
        #expect(storage.fileSizes.database > 0)
        #expect(storage.writeTimes.commit.count > 0)
        await storage.close()
    }

    @Test func pushesThatWaitForAnotherAttemptAreCountedByLane() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        #expect(try await storage.waitingRetries(limit: 10).isEmpty)
        for seconds: Int64 in [0, 5] {
            let delivery = try await storage.broadcast(of: [1], in: hub, at: now + .seconds(seconds))
            let retries = (1...3).map { number in
                Retry(
                    member: AudienceMember(channel: ChannelID(rawValue: number)), attempts: 1,
                    dueAt: now + .seconds(10 + seconds + number), outcome: .pnsUnavailable, reason: "Storm")
            }
            try await storage.record(
                DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .processing, retries: retries))
        }
        let all = try #require(try await storage.waitingRetries(limit: 10).first)
        #expect(all.key.hub == hub)
        #expect((all.value.pushes, all.value.notifications, all.value.isPartial) == (6, 2, false))
        #expect(all.value.nextDue == now + .seconds(11) && all.value.firstExpiry > now)
        let part = try #require(try await storage.waitingRetries(limit: 4).first?.value)
        #expect(part.pushes == 4 && part.isPartial)
        await storage.close()
    }

    private func draft(
        in hub: Hub.ID, _ bytes: Int, due: Timestamp? = nil, limits: BacklogLimits? = nil
    ) -> NotificationDraft {
        var draft = NotificationDraft(
            id: NotificationID(at: now), hub: hub,
            content: .native(PlatformID(rawValue: "pigeon"), Message(body: [UInt8](repeating: 1, count: bytes))),
            target: .audience(nil), acceptedAt: now, dueAt: due, expiresAt: now + .seconds(600))
        draft.backlogLimits = limits
        return draft
    }

    /// Every way in which something begins and ends to be unfinished, and the same figures after a restart.
    @Test func theBacklogOfEachHubIsKnownWithoutCounting() async throws {
        var storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let other = try #require(try await storage.createHub(name: "other", settings: HubSettings(), at: now)).id
        func expect(_ own: (Int, Int64), all: (Int, Int64)) async throws {
            for _ in 0..<2 {
                let found = (try await storage.backlogSize(of: hub), try await storage.backlogSize(of: nil))
                #expect(found.0 == BacklogSize(notifications: own.0, bytes: own.1))
                #expect(found.1 == BacklogSize(notifications: all.0, bytes: all.1))
                await storage.close()
                storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
            }
        }
        try await expect((0, 0), all: (0, 0))
        let delivery = try await storage.broadcast(of: [1, 2, 3], in: hub, at: now)
        _ = try await storage.broadcast(of: [1, 2], in: other, at: now)
        let later = draft(in: hub, 10, due: now + .seconds(60))
        _ = try await storage.accept(later)
        try await expect((2, 13), all: (3, 15))
        var replacement = draft(in: hub, 20, due: now + .seconds(60))
        replacement.id = later.id
        #expect(try await storage.replace(replacement) == .replaced(.running))
        try await expect((2, 23), all: (3, 25))
        try await storage.record(
            DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: now))
        try await expect((1, 20), all: (2, 22))
        #expect(try await storage.cancel(later.id, in: hub, at: now) == .canceled)
        #expect(try await storage.cancel(later.id, in: hub, at: now) == .canceled)
        try await expect((0, 0), all: (1, 2))
        _ = try await storage.deleteHub(other)
        try await expect((0, 0), all: (0, 0))
        await storage.close()
    }

    @Test func theSharesOfUsersAreTheSameAfterARestartAndALostTransaction() async throws {
        var storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        // With this limit, the share of a user is two notifications.
        let limits = BacklogLimits(notifications: 5, standard: 5)
        func draft(_ author: SendAuthor) -> NotificationDraft {
            var draft = self.draft(in: hub, 7, due: now + .seconds(60), limits: limits)
            draft.author = author
            return draft
        }
        func restart() async throws {
            await storage.close()
            storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        }
        func accepted(_ author: SendAuthor) async throws -> NotificationID? {
            switch try await storage.accept(draft(author)) {
            case .accepted(let notification, _): return notification.id
            case .backlogged(let excess):
                #expect(excess == .user)
                return nil
            case .repeated, .conflicting: return nil
            }
        }
        func loseATransaction() async throws {
            await #expect(throws: StorageError.self) {
                try await storage.writer.write { [draft = draft(.user("mallory"))] connection throws(StorageError) in
                    _ = try NotificationTable(connection).accept(draft)
                    throw StorageError(.full, "no room")
                }
            }
        }
        try await loseATransaction()
        let first = try #require(try await accepted(.user("mallory")))
        try await loseATransaction()
        #expect(try await accepted(.key("mallory")) != nil)
        try await restart()
        #expect(try await accepted(.user("mallory")) != nil)
        #expect(try await accepted(.user("mallory")) == nil)
        try await restart()
        #expect(try await accepted(.user("mallory")) == nil)
        #expect(try await storage.cancel(first, in: hub, at: now) == .canceled)
        #expect(try await accepted(.user("mallory")) != nil)
        #expect(try await accepted(.user("mallory")) == nil)
        #expect(try await accepted(.user("bob")) != nil)
        await storage.close()
    }

    @Test func aLostTransactionTakesBackWhatItAddedToTheBacklog() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        _ = try await storage.broadcast(of: [1, 2], in: hub, at: now)
        await #expect(throws: StorageError.self) {
            try await storage.writer.write { [draft = draft(in: hub, 7)] connection throws(StorageError) in
                _ = try NotificationTable(connection).accept(draft)
                #expect(BacklogTable(connection).size(of: hub) == BacklogSize(notifications: 2, bytes: 9))
                throw StorageError(.full, "no room")
            }
        }
        #expect(try await storage.backlogSize(of: hub) == BacklogSize(notifications: 1, bytes: 2))
        #expect(try await storage.backlogSize(of: nil) == BacklogSize(notifications: 1, bytes: 2))
        await storage.close()
    }

    @Test func aSendRefusedForTheBacklogLeavesNothing() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let limits = BacklogLimits(notifications: 2, standard: 2)
        let delivery = try await storage.broadcast(in: hub, at: now)
        _ = try await storage.broadcast(in: hub, at: now)
        let answers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    guard case .backlogged(.hub)? = try? await storage.accept(draft(in: hub, 1, limits: limits))
                    else { return false }
                    return true
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0 })
        #expect(try await storage.unfinished(after: .none, limit: 10).count == 2)
        try await storage.record(
            DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: now))
        guard case .accepted = try await storage.accept(draft(in: hub, 1, limits: limits)) else {
            Issue.record("there is room again")
            return
        }
        await storage.close()
    }
}
