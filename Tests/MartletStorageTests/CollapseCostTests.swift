import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

/// What a notification with a collapse key costs must not depend on how many with the same key wait.
struct CollapseCostTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    private func send(_ expression: String?, in hub: Hub.ID, _ storage: SQLiteStorage) async throws -> Delivery {
        let target = Notification.Target.audience(try expression.map { try TagExpression($0) })
        let draft = NotificationDraft(
            id: NotificationID(at: now), hub: hub,
            content: .native(PlatformID(rawValue: "pigeon"), Message(body: [1])), target: target, acceptedAt: now,
            expiresAt: now + .seconds(600), collapse: Collapse(key: "k"))
        guard case .accepted(_, let deliveries) = try await storage.accept(draft) else { throw StorageError(.full, "") }
        return deliveries[0]
    }

    private func latest(_ storage: SQLiteStorage) async throws -> [Int64] {
        try await storage.readers.read { connection throws(StorageError) in
            try connection.all("SELECT delivery FROM collapses WHERE is_latest = 1 ORDER BY delivery") { $0.integer(0) }
        }
    }

    @Test func onlyTheLatestOfEachExpressionIsLookedAt() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        var deliveries: [Delivery] = []
        for number in 0..<300 {
            deliveries.append(try await send(["a", "a && b", nil][number % 3], in: hub, storage))
        }
        #expect(try await latest(storage) == deliveries.suffix(3).map(\.id.rawValue))
        // The one before takes the place of what went out to nobody.
        var step = DeliveryStep(delivery: deliveries[299].id, isFannedOut: true, state: .canceled, endedAt: now)
        step.supersedesNone = true
        try await storage.record(step)
        #expect(try await latest(storage) == [296, 297, 298].map { deliveries[$0].id.rawValue })
        await storage.close()
    }

    @Test func laterDeliveriesAreFoundByAnIndexThatHasOnlyTheLatest() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let sql = "EXPLAIN QUERY PLAN \(CollapseTable.latest)"
        let plan = try await storage.readers.read { connection throws(StorageError) in
            try connection.all(sql) { $0.text(3) }
        }
        #expect(plan.count == 1)
        let columns = "hub=? AND platform=? AND key=? AND anchor=? AND delivery>?"
        #expect(plan.first?.contains("INDEX collapses_latest_by_anchor (\(columns))") == true, "\(plan)")
        await storage.close()
    }

    @Test func overdueNotificationsWithAKeyAreFoundWithoutReadingWhatTheHubHasKept() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let sql = "EXPLAIN QUERY PLAN \(NotificationTable.due(NotificationTable.isOfHubWithKey))"
        let plan = try await storage.readers.read { connection throws(StorageError) in
            try connection.all(sql) { $0.text(3) }
        }
        #expect(plan.first?.contains("INDEX notifications_waiting (due_at<?)") == true, "\(plan)")
        await storage.close()
    }
}
