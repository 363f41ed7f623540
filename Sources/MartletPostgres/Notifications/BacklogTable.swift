import MartletCore
import MartletModel

/// Stores the size of each hub's backlog (the notifications that are accepted and not finished). The size is updated in
/// the transaction that changes the backlog.
enum BacklogTable {
    static func add(_ notifications: Int64, _ bytes: Int64, _ session: ShardSession) {
        guard notifications != 0 || bytes != 0 else { return }
        session.run(
            """
            INSERT INTO backlogs (shard, notifications, bytes) VALUES ($1, $2, $3)
            ON CONFLICT (shard) DO UPDATE SET notifications = backlogs.notifications + excluded.notifications,
                bytes = backlogs.bytes + excluded.bytes
            """, notifications, bytes)
    }

    enum End {
        case at(Timestamp)
        /// Ends at the given time, if no delivery is unfinished and no part waits.
        case isOver(Timestamp)
        /// Ends at the time when the last delivery ended, if no delivery is unfinished and no part waits.
        case withDeliveries
    }

    /// Finishes a notification, and subtracts it and the bytes of its body from the backlog.
    static func finish(_ sequence: Int64, _ end: End, _ session: ShardSession) {
        switch end {
        case .at(let time): session.run(finishing("$3", where: "true"), sequence, time)
        case .isOver(let time): session.run(finishing("$3", where: isOver), sequence, time)
        case .withDeliveries:
            session.run(
                finishing(
                    """
                    (SELECT coalesce(max(e.ended_at), n.begun_at) FROM deliveries e
                        WHERE e.shard = $1 AND e.notification = $2)
                    """, where: isOver), sequence)
        }
    }

    private static let isOver = """
        NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.shard = $1 AND d.notification = $2 AND NOT d.is_final)
            AND NOT EXISTS (SELECT 1 FROM parts p WHERE p.shard = $1 AND p.notification = $2 AND p.begun_at IS NULL)
        """

    private static func finishing(_ time: String, where condition: String) -> String {
        """
        WITH over AS (
            UPDATE notifications n SET finished_at = \(time)
            WHERE n.shard = $1 AND n.sequence = $2 AND n.finished_at IS NULL AND \(condition)
            RETURNING length(n.body) AS bytes
        )
        UPDATE backlogs b SET notifications = b.notifications - 1, bytes = b.bytes - o.bytes FROM over o
        WHERE b.shard = $1
        """
    }
}
