import MartletCore
import MartletModel

/// What has become of a notification: cursor, counts, refusals and retries, on one connection.
struct DeliveryTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Does nothing where the notification is gone with its hub.
    func record(_ step: DeliveryStep) throws(StorageError) {
        try connection.run(
            """
            UPDATE notifications SET cursor = ifnull(?, cursor), is_fanned_out = ?, state = ?, is_final = ?,
                started_at = ifnull(started_at, ?), ended_at = ifnull(?, ended_at)
            WHERE sequence = ?
            """, step.cursor?.rawValue, step.isFannedOut, step.state.rawValue, step.state.isFinal, step.startedAt,
            step.endedAt, step.notification)
        guard connection.changes == 1 else { return }
        try addCounts(step)
        try addRefusals(step)
        try settle(step)
        try addRetries(step)
    }

    func retries(of notification: Int64, due now: Timestamp, limit: Int) throws(StorageError) -> [Retry] {
        try connection.all(
            """
            SELECT channel, attempts, due_at, outcome, reason FROM retries
            WHERE notification = ? AND due_at <= ? ORDER BY due_at, channel LIMIT ?
            """, notification, now, limit
        ) { row in
            Retry(
                channel: ChannelID(rawValue: row.integer(0)), attempts: Int(row.integer(1)), dueAt: row.timestamp(2),
                outcome: OutcomeName(rawValue: row.text(3)), reason: row.text(4))
        }
    }

    func nextRetry(of notification: Int64) throws(StorageError) -> Timestamp? {
        try connection.first(
            "SELECT due_at FROM retries WHERE notification = ? ORDER BY due_at LIMIT 1", notification
        ) { $0.timestamp(0) }
    }

    private func addCounts(_ step: DeliveryStep) throws(StorageError) {
        for (outcome, count) in step.counts where count != 0 {
            try connection.run(
                """
                INSERT INTO outcome_counts (notification, outcome, count) VALUES (?, ?, ?)
                ON CONFLICT (notification, outcome) DO UPDATE SET count = count + excluded.count
                """, step.notification, outcome.rawValue, count)
        }
    }

    private func addRefusals(_ step: DeliveryStep) throws(StorageError) {
        for refusal in step.refusals {
            try connection.run(
                """
                INSERT OR REPLACE INTO refusals (notification, channel, outcome, reason, refused_at)
                VALUES (?, ?, ?, ?, ?)
                """, step.notification, refusal.channel.rawValue, refusal.outcome.rawValue, refusal.reason, refusal.at)
        }
    }

    private func settle(_ step: DeliveryStep) throws(StorageError) {
        for channel in step.settled {
            try connection.run(
                "DELETE FROM retries WHERE notification = ? AND channel = ?", step.notification, channel.rawValue)
        }
    }

    private func addRetries(_ step: DeliveryStep) throws(StorageError) {
        for retry in step.retries {
            try connection.run(
                """
                INSERT OR REPLACE INTO retries (notification, channel, attempts, due_at, outcome, reason)
                VALUES (?, ?, ?, ?, ?, ?)
                """, step.notification, retry.channel.rawValue, retry.attempts, retry.dueAt, retry.outcome.rawValue,
                retry.reason)
        }
    }
}
