import MartletCore
import MartletModel

/// The roll-outs of notifications and their state, on one connection.
struct RolloutTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func insert(_ rollout: Rollout, of notification: Int64) throws(StorageError) {
        let (rate, duration): (Int?, Int64?) =
            switch rollout.pace {
            case .rate(let rate): (rate, nil)
            case .over(let time): (nil, Int64(time / .milliseconds(1)))
            }
        try connection.run(
            """
            INSERT INTO rollouts (notification, rate, duration, halt_share, halt_answers) VALUES (?, ?, ?, ?, ?)
            """, notification, rate, duration, rollout.halt?.share, rollout.halt?.answers)
    }

    func remove(of notification: Int64) throws(StorageError) {
        try connection.run("DELETE FROM rollouts WHERE notification = ?", notification)
    }

    func setAudience(_ count: Int, of notification: Int64) throws(StorageError) -> Int? {
        try connection.run(
            "UPDATE rollouts SET audience = ? WHERE notification = ? AND audience IS NULL", count, notification)
        return try status(of: notification)?.audience
    }

    func record(of notification: Int64) throws(StorageError) -> RolloutRecord? {
        try connection.first("SELECT audience, sent_at FROM rollouts WHERE notification = ?", notification) { row in
            RolloutRecord(
                audience: row.optionalInteger(0).map { Int($0) }, lastSentAt: row.optionalTimestamp(1))
        }
    }

    /// Records that a page of a delivery's notification has been sent.
    func recordSending(of delivery: Delivery.ID, at sentAt: Timestamp) throws(StorageError) {
        try connection.run(
            """
            UPDATE rollouts SET sent_at = max(ifnull(sent_at, ?1), ?1)
            WHERE notification = (SELECT notification FROM deliveries WHERE id = ?2)
            """, sentAt, delivery.rawValue)
    }

    func status(of notification: Int64) throws(StorageError) -> (audience: Int?, countedFrom: SendCounts)? {
        try connection.first(
            "SELECT audience, succeeded, failed FROM rollouts WHERE notification = ?", notification
        ) { row in
            (
                row.isNull(0) ? nil : Int(row.integer(0)),
                SendCounts(succeeded: Int(row.integer(1)), failed: Int(row.integer(2)))
            )
        }
    }

    /// Restarts the counts of the halting rule: pushes that have ended so far are no longer counted.
    func countAnew(_ notification: Int64) throws(StorageError) {
        let outcomes = try connection.all(
            """
            SELECT outcome, sum(count) FROM outcome_counts
            WHERE delivery IN (SELECT id FROM deliveries WHERE notification = ?) GROUP BY outcome
            """, notification
        ) { (OutcomeName(rawValue: $0.text(0)), Int($0.integer(1))) }
        let counts = SendCounts(Dictionary(uniqueKeysWithValues: outcomes))
        try connection.run(
            "UPDATE rollouts SET succeeded = ?, failed = ? WHERE notification = ?", counts.succeeded, counts.failed,
            notification)
    }
}
