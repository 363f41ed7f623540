import MartletCore
import MartletModel

/// Counts the data of funnels, on one connection.
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

    /// Counts the members that were tried, but were neither refused nor reached and do not wait for a retry.
    private func stopped(of notification: Int64) throws(StorageError) -> [(PlatformID, Int)] {
        try connection.all(
            """
            SELECT d.platform, (SELECT count(*) FROM
                (SELECT channel, registration FROM attempts WHERE delivery = d.id
                    GROUP BY channel, registration HAVING max(outcome = ?2) = 0 AND min(outcome = ?3) = 0
                EXCEPT SELECT channel, registration FROM refusals WHERE delivery = d.id
                EXCEPT SELECT channel, registration FROM retries WHERE delivery = d.id))
            FROM deliveries d WHERE d.notification = ?1
            """, notification, OutcomeName.success.rawValue, OutcomeName.superseded.rawValue
        ) { row in (PlatformID(rawValue: row.text(0)), Int(row.integer(1))) }
    }

    /// Counts failed pushes. A refusal counts as a failed push if the push service answered, if the push was abandoned
    /// after at least one attempt (in the refusal's own count or in the table of attempts), or if the device was
    /// removed before the retry.
    private func failures(of notification: Int64) throws(StorageError) -> [(PlatformID, Int)] {
        try connection.all(
            """
            SELECT d.platform, (SELECT count(*) FROM refusals f WHERE f.delivery = d.id
                AND (f.origin IS NOT NULL OR f.handle IS NULL OR f.outcome = ? AND (f.attempts > 0
                    OR EXISTS (SELECT 1 FROM attempts a WHERE a.delivery = f.delivery AND a.channel = f.channel
                        AND a.registration = f.registration))))
            FROM deliveries d WHERE d.notification = ?
            """, OutcomeName.abandoned.rawValue, notification
        ) { row in (PlatformID(rawValue: row.text(0)), Int(row.integer(1))) }
    }
}
