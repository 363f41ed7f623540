import MartletCore
import MartletModel
import MartletStorage
import MartletTesting
import Testing

struct ReopeningTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    @Test func storedRecordsAreThereAfterReopening() async throws {
        let directory = TemporaryDirectory()
        let first = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let rules = [AccessRule(name: "full", rights: .manage, at: now)]
        let hub = try #require(
            try await first.createHub(name: "Hub", settings: HubSettings(accessRules: rules), at: now))
        let draft = RegistrationDraft(
            platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("AB01"), handleKey: "ab01",
            tags: [try Tag("News"), try Tag("username:alice")])
        let registration = try await first.apply(.put(draft, id: "1-2-3", condition: .none), in: hub.id, at: now).get()
        let delivery = try await first.broadcast(
            of: [1, 2, 3], to: try TagExpression("news && !other"), in: hub.id, at: now)
        try await first.putUser(User(name: "Alice", passwordHash: "hash", createdAt: now))
        await first.close()

        let second = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        #expect(try await second.hubs().map(\.settings.accessRules) == [rules])
        #expect(try await second.registration("1-2-3", in: hub.id, at: now)?.tags == registration.tags)
        let unfinished = try await second.unfinished(after: .none, limit: 10)
        #expect(unfinished.map(\.delivery.notification.id) == [delivery.notification.id])
        let page = try await second.audience(
            AudienceQuery(
                hub: hub.id, platform: draft.platform, expression: try TagExpression("news && !other"),
                throughChannel: delivery.bounds.channel, limit: 10, now: now))
        #expect(page.count == 1)
        #expect(page.withHandle(0) { String(decoding: $0, as: UTF8.self) } == "AB01")
        #expect(try await second.user("ALICE")?.passwordHash == "hash")
        await second.close()
    }

    @Test func aCopyOfARunningServersFilesHasAllThatWasAnswered() async throws {
        let (directory, copy) = (TemporaryDirectory(), TemporaryDirectory())
        let running = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        for number in 0..<20 {
            try await running.putUser(User(name: "user\(number)", passwordHash: "", createdAt: now))
            for file in ["martlet.db", "martlet.db-wal"] { try copy.copy(file, from: directory) }
            let found = try SQLiteStorage(directory: copy.path, sealer: XORSealer())
            #expect(try await found.users(beginningWith: "", after: nil, limit: 100).count == number + 1)
            await found.close()
        }
        await running.close()
    }

    @Test func schedulesAndRequestIdentitiesAreRemembered() async throws {
        let directory = TemporaryDirectory()
        let first = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let now = Timestamp(seconds: 1_700_000_000)
        let hub = try #require(try await first.createHub(name: "loft", settings: HubSettings(), at: now)).id
        func draft(at timestamp: Timestamp) -> NotificationDraft {
            NotificationDraft(
                id: NotificationID(at: timestamp), hub: hub,
                content: .native(PlatformID(rawValue: "pigeon"), Message(body: [1])), target: .audience(nil),
                acceptedAt: timestamp, dueAt: now + .seconds(60), expiresAt: now + .seconds(120),
                request: RequestIdentity(
                    key: Array(repeating: 1, count: 32), fingerprint: Array(repeating: 2, count: 32)))
        }
        guard case .accepted(let notification, _) = try await first.accept(draft(at: now)) else {
            Issue.record("it is new")
            return
        }
        await first.close()

        let second = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        guard case .repeated(notification.id) = try await second.accept(draft(at: now + .seconds(9))) else {
            Issue.record("the request is known")
            return
        }
        #expect(try await second.nextDue() == now + .seconds(60))
        let released = try await second.release(due: now + .seconds(60), limit: 10)
        #expect(released.deliveries.map(\.notification.id) == [notification.id])
        await second.close()
    }
}
