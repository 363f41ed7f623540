public import MartletCore
import MartletModel

extension PostgresStorage: FunnelStore {
    public func funnelEvidence(
        of id: NotificationID, in hub: Hub.ID
    ) async throws(StorageError) -> FunnelEvidence {
        try await read(Shard(hub), isConsistent: true) { session throws(StorageError) in
            try FunnelTable(session).evidence(of: id)
        }
    }
}

/// Reads the data from which funnels are computed.
private struct FunnelTable {
    private let session: ShardSession

    init(_ session: ShardSession) {
        self.session = session
    }

    func evidence(of id: NotificationID) throws(StorageError) -> FunnelEvidence {
        let sequence = try session.first(
            "SELECT sequence FROM notifications WHERE shard = $1 AND id = $2", id.bytes
        ) { $0.integer(0) }
        guard let sequence else { return FunnelEvidence() }
        var platforms: [PlatformID: FunnelEvidence.PlatformCounts] = [:]
        for (platform, event) in try reported() {
            platforms[platform, default: FunnelEvidence.PlatformCounts()].reported.insert(event)
        }
        for (platform, received, opened) in try receipts(of: sequence) {
            platforms[platform, default: FunnelEvidence.PlatformCounts()].received = received
            platforms[platform, default: FunnelEvidence.PlatformCounts()].opened = opened
        }
        for (delivery, platform) in try DeliveryTable(session).deliveries(of: sequence) {
            let tried = TriedMembers(FailedPushTable(session), of: delivery)
            platforms[platform, default: FunnelEvidence.PlatformCounts()].failed += try tried.failedCount()
            platforms[platform, default: FunnelEvidence.PlatformCounts()].stopped += try tried.stoppedCount()
        }
        return FunnelEvidence(platforms: platforms)
    }

    private func reported() throws(StorageError) -> [(PlatformID, Receipt.Event)] {
        try session.all("SELECT platform, event FROM receipt_events WHERE shard = $1") { row in
            Receipt.Event(rawValue: row.text(1)).map { (PlatformID(rawValue: row.text(0)), $0) }
        }.compactMap(\.self)
    }

    private func receipts(
        of notification: Int64
    ) throws(StorageError) -> [(PlatformID, received: Int, opened: Int)] {
        try session.all(
            """
            SELECT platform, count(DISTINCT device), count(DISTINCT device) FILTER (WHERE event = 'opened')
            FROM notification_receipts WHERE shard = $1 AND notification = $2 GROUP BY platform
            """, notification
        ) { row in (PlatformID(rawValue: row.text(0)), Int(row.integer(1)), Int(row.integer(2))) }
    }
}
