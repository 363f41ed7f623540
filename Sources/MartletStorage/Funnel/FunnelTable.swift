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
        var parts: [PlatformID: FunnelEvidence.Part] = [:]
        for (platform, event) in try reported(in: hub) {
            parts[platform, default: FunnelEvidence.Part()].reported.insert(event)
        }
        for (platform, received, opened) in try receipts(of: sequence) {
            parts[platform, default: FunnelEvidence.Part()].received = received
            parts[platform, default: FunnelEvidence.Part()].opened = opened
        }
        for (platform, failed) in try failures(of: sequence) {
            parts[platform, default: FunnelEvidence.Part()].failed += failed
        }
        for (platform, stopped) in try stopped(of: sequence) {
            parts[platform, default: FunnelEvidence.Part()].stopped += stopped
        }
        return FunnelEvidence(parts: parts)
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
            counts.append((platform, try TriedMembers(connection, of: delivery).stoppedCount()))
        }
        return counts
    }

    /// Counts the refusals that are failed pushes. A refusal counts if the push service answered, if the push was
    /// abandoned after at least one attempt, or if the device was removed before the retry. The attempts are counted in
    /// the refusal itself, or recorded as `Attempt`s.
    private func failures(of notification: Int64) throws(StorageError) -> [(PlatformID, Int)] {
        var counts: [(PlatformID, Int)] = []
        for (delivery, platform) in try deliveries(of: notification) {
            let tried = TriedMembers(connection, of: delivery)
            counts.append((platform, try tried.failedRowCount() + tried.failedPageCount()))
        }
        return counts
    }

    private func deliveries(of notification: Int64) throws(StorageError) -> [(Delivery.ID, PlatformID)] {
        try connection.all("SELECT id, platform FROM deliveries WHERE notification = ?", notification) { row in
            (Delivery.ID(rawValue: row.integer(0)), PlatformID(rawValue: row.text(1)))
        }
    }
}
