import MartletCore
import MartletModel

/// Reads the data from which funnels are computed, on one connection.
struct FunnelTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func evidence(of id: NotificationID, in hub: Hub.ID) throws(StorageError) -> FunnelEvidence {
        let sequence = try connection.first(
            "SELECT sequence FROM notifications WHERE hub = ? AND id = ?", hub.rawValue, id.bytes
        ) { $0.integer(0) }
        guard let sequence else { return FunnelEvidence() }
        var platforms: [PlatformID: FunnelEvidence.PlatformCounts] = [:]
        for (platform, event) in try reported(in: hub) {
            platforms[platform, default: FunnelEvidence.PlatformCounts()].reported.insert(event)
        }
        for (platform, received, opened) in try receipts(of: sequence) {
            platforms[platform, default: FunnelEvidence.PlatformCounts()].received = received
            platforms[platform, default: FunnelEvidence.PlatformCounts()].opened = opened
        }
        for (platform, failed) in try failures(of: sequence) {
            platforms[platform, default: FunnelEvidence.PlatformCounts()].failed += failed
        }
        for (platform, stopped) in try stopped(of: sequence) {
            platforms[platform, default: FunnelEvidence.PlatformCounts()].stopped += stopped
        }
        return FunnelEvidence(platforms: platforms)
    }

    private func reported(in hub: Hub.ID) throws(StorageError) -> [(PlatformID, Receipt.Event)] {
        try connection.all("SELECT platform, event FROM receipt_events WHERE hub = ?", hub.rawValue) { row in
            Receipt.Event(rawValue: row.text(1)).map { (PlatformID(rawValue: row.text(0)), $0) }
        }.compactMap(\.self)
    }

    private func receipts(
        of notification: Int64
    ) throws(StorageError) -> [(PlatformID, received: Int, opened: Int)] {
        try connection.all(
            """
            SELECT platform, count(DISTINCT device), count(DISTINCT CASE WHEN event = 'opened' THEN device END)
            FROM notification_receipts WHERE notification = ? GROUP BY platform
            """, notification
        ) { row in (PlatformID(rawValue: row.text(0)), Int(row.integer(1)), Int(row.integer(2))) }
    }

    /// Counts the members that were tried without success and will not be tried again, although no refusal is recorded.
    private func stopped(of notification: Int64) throws(StorageError) -> [(PlatformID, Int)] {
        var counts: [(PlatformID, Int)] = []
        for (delivery, platform) in try deliveries(of: notification) {
            counts.append((platform, try TriedMembers(FailedPushTable(connection), of: delivery).stoppedCount()))
        }
        return counts
    }

    /// Counts the refusals that count as failed pushes.
    private func failures(of notification: Int64) throws(StorageError) -> [(PlatformID, Int)] {
        var counts: [(PlatformID, Int)] = []
        for (delivery, platform) in try deliveries(of: notification) {
            counts.append((platform, try TriedMembers(FailedPushTable(connection), of: delivery).failedCount()))
        }
        return counts
    }

    private func deliveries(of notification: Int64) throws(StorageError) -> [(Delivery.ID, PlatformID)] {
        try connection.all("SELECT id, platform FROM deliveries WHERE notification = ?", notification) { row in
            (Delivery.ID(rawValue: row.integer(0)), PlatformID(rawValue: row.text(1)))
        }
    }
}
