import MartletCore
import MartletModel

/// Stores and reads the waiting parts of notifications.
struct PartTable {
    private let session: ShardSession

    init(_ session: ShardSession) {
        self.session = session
    }

    func insert(_ parts: [WaitingPart], of notification: Int64) {
        for part in parts {
            session.run(
                """
                INSERT INTO parts (shard, notification, number, platform, due_at, expires_at, side, narrowing)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                """, notification, part.number, part.platform?.rawValue, part.dueAt, part.expiresAt,
                part.side?.rawValue, part.narrowing?.description)
        }
    }

    func remove(of notification: Int64) {
        session.run("DELETE FROM parts WHERE shard = $1 AND notification = $2", notification)
    }

    /// Removes the part of a canary's rest, if the part has not begun.
    func removeRest(of notification: Int64) {
        session.run(
            "DELETE FROM parts WHERE shard = $1 AND notification = $2 AND side = $3 AND begun_at IS NULL", notification,
            SampleSide.rest.rawValue)
    }

    /// Makes waiting parts due now, so that they begin: all of them, or only those with a gate.
    func open(of notification: Int64, onlyGates: Bool, at now: Timestamp) {
        session.run(
            """
            UPDATE parts SET due_at = $3
            WHERE shard = $1 AND notification = $2 AND begun_at IS NULL AND (due_at IS NULL OR NOT $4 AND due_at > $3)
            """, notification, now, onlyGates)
    }

    /// Makes those rests of the shard's canaries due now that were opened later than now, because the clock was set
    /// back.
    func correctOpenings(at now: Timestamp) {
        session.run(
            """
            UPDATE parts SET due_at = $2
            WHERE shard = $1 AND begun_at IS NULL AND coalesce(due_at, expires_at) > $2 AND due_at > $2 AND side = $3
            """, now, SampleSide.rest.rawValue)
    }

    func hasGate(_ notification: Int64) throws(StorageError) -> Bool {
        try session.exists(
            "SELECT 1 FROM parts WHERE shard = $1 AND notification = $2 AND due_at IS NULL AND begun_at IS NULL",
            notification)
    }

    /// Returns true if the first part of a notification begins later than the notification. The first part has the
    /// number 0, and has a row only in this case.
    func beginsLater(_ notification: Int64) throws(StorageError) -> Bool {
        try session.exists("SELECT 1 FROM parts WHERE shard = $1 AND notification = $2 AND number = 0", notification)
    }

    func waitingCount(of notification: Int64) throws(StorageError) -> Int {
        try session.first(
            "SELECT count(*) FROM parts WHERE shard = $1 AND notification = $2 AND begun_at IS NULL", notification
        ) { Int($0.integer(0)) } ?? 0
    }

    func due(at now: Timestamp, limit: Int) throws(StorageError) -> [(notification: Int64, part: WaitingPart)] {
        try session.all(
            """
            SELECT p.notification, p.number, p.platform, p.due_at, p.side, p.narrowing, p.expires_at
            FROM parts p JOIN notifications n ON n.shard = $1 AND n.sequence = p.notification
            WHERE p.shard = $1 AND p.begun_at IS NULL AND coalesce(p.due_at, p.expires_at) <= $2
                AND n.begun_at IS NOT NULL AND n.finished_at IS NULL
            ORDER BY coalesce(p.due_at, p.expires_at), p.notification, p.number LIMIT $3
            """, now, limit
        ) { row throws(StorageError) in
            var columns = ColumnReader(row)
            let notification = columns.integer()
            let part = WaitingPart(
                number: columns.integer(), platform: columns.optionalText().map { PlatformID(rawValue: $0) },
                dueAt: columns.optionalTimestamp(),
                side: columns.optionalInteger().flatMap { SampleSide(rawValue: $0) },
                narrowing: try StoredTarget.expression(columns.optionalText()), expiresAt: columns.timestamp())
            return (notification: notification, part: part)
        }
    }

    func markBegun(_ part: WaitingPart, of notification: Int64, at now: Timestamp) {
        session.run(
            "UPDATE parts SET begun_at = $4 WHERE shard = $1 AND notification = $2 AND number = $3", notification,
            part.number, now)
    }
}
