import MartletCore
import MartletModel

/// Stores and reads the waiting parts of notifications, on one connection.
struct PartTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func insert(_ parts: [WaitingPart], of notification: Int64) throws(StorageError) {
        for part in parts {
            try connection.run(
                """
                INSERT INTO parts (notification, number, platform, due_at, expires_at, side, narrowing)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, notification, part.number, part.platform?.rawValue, part.dueAt, part.expiresAt,
                part.side?.rawValue, part.narrowing?.description)
        }
        try connection.run(
            "UPDATE notifications SET has_parts = ? WHERE sequence = ?", !parts.isEmpty, notification)
    }

    func remove(of notification: Int64) throws(StorageError) {
        try connection.run("DELETE FROM parts WHERE notification = ?", notification)
    }

    /// Makes waiting parts due now, so that they begin: all of them, or only those with a gate.
    func open(of notification: Int64, onlyGates: Bool, at now: Timestamp) throws(StorageError) {
        try connection.run(
            """
            UPDATE parts SET due_at = ?1
            WHERE notification = ?2 AND begun_at IS NULL AND (due_at IS NULL OR NOT ?3 AND due_at > ?1)
            """, now, notification, onlyGates)
    }

    /// Makes those rests of canaries due now that were opened later than now, because the clock was set back.
    func correctOpenings(at now: Timestamp) throws(StorageError) {
        try connection.run(
            """
            UPDATE parts INDEXED BY parts_waiting SET due_at = ?1
            WHERE begun_at IS NULL AND ifnull(due_at, expires_at) > ?1 AND due_at > ?1 AND side = ?2
            """, now, SampleSide.rest.rawValue)
    }

    /// Returns true if the first part of a notification begins later than the notification. The first part has the
    /// number 0, and has a row only in this case.
    func beginsLater(_ notification: Int64) throws(StorageError) -> Bool {
        try connection.first("SELECT 1 FROM parts WHERE notification = ? AND number = 0", notification) { _ in true }
            ?? false
    }

    func waitingCount(of notification: Int64) throws(StorageError) -> Int {
        try connection.first(
            "SELECT count(*) FROM parts WHERE notification = ? AND begun_at IS NULL", notification
        ) { Int($0.integer(0)) } ?? 0
    }

    /// The SQL condition that the notification of a part has begun and has not ended.
    static let isOfRunning = """
        EXISTS (SELECT 1 FROM notifications n
            WHERE n.sequence = parts.notification AND n.begun_at IS NOT NULL AND n.finished_at IS NULL)
        """

    /// The query for the time when the next part begins: its due time or, if it has a gate, its expiry.
    static let nextDue = """
        SELECT ifnull(due_at, expires_at) AS at FROM parts INDEXED BY parts_waiting
        WHERE begun_at IS NULL AND \(isOfRunning) ORDER BY ifnull(due_at, expires_at) LIMIT 1
        """

    func due(at now: Timestamp, limit: Int) throws(StorageError) -> [(notification: Int64, part: WaitingPart)] {
        try connection.all(
            """
            SELECT notification, number, platform, due_at, expires_at, side, narrowing
            FROM parts INDEXED BY parts_waiting
            WHERE begun_at IS NULL AND ifnull(due_at, expires_at) <= ?1 AND \(Self.isOfRunning)
            ORDER BY ifnull(due_at, expires_at), notification, number LIMIT ?2
            """, now, limit
        ) { row throws(StorageError) in
            let part = WaitingPart(
                number: row.integer(1), platform: row.optionalText(2).map { PlatformID(rawValue: $0) },
                dueAt: row.optionalTimestamp(3), side: row.optionalInteger(5).flatMap { SampleSide(rawValue: $0) },
                narrowing: try Self.narrowing(row.optionalText(6)), expiresAt: row.timestamp(4))
            return (row.integer(0), part)
        }
    }

    func markBegun(_ part: WaitingPart, of notification: Int64, at now: Timestamp) throws(StorageError) {
        try connection.run(
            "UPDATE parts SET begun_at = ? WHERE notification = ? AND number = ?", now, notification, part.number)
    }

    static func narrowing(_ text: String?) throws(StorageError) -> TagExpression? {
        guard let text, case .audience(let expression) = try StoredTarget(expression: text, handles: nil).target()
        else { return nil }
        return expression
    }
}
