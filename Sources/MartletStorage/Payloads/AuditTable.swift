import MartletCore
import MartletModel

/// Stores and reads the audit of payloads, which records each read and each refused read, on one connection.
struct AuditTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func insert(_ access: PayloadAccess) throws(StorageError) {
        try connection.run(
            "INSERT INTO payload_audit (at, payload, user, outcome, address) VALUES (?, ?, ?, ?, ?)", access.at,
            access.payload.stored, access.user, access.outcome.rawValue, access.address)
    }

    /// Returns the latest entries that match a query. The entries are in the order in which they were made.
    func entries(_ query: AuditQuery) throws(StorageError) -> [AuditEntry] {
        let entries = try connection.all(Self.sql(for: query), query.payload?.stored, query.user, query.limit) {
            row throws(StorageError) in
            guard let payload = PayloadID(rawValue: Int32(clamping: row.integer(2))),
                let outcome = PayloadAccess.Outcome(rawValue: row.text(4))
            else { throw StorageError(.corrupt, "A stored entry of the audit cannot be read; restore a backup.") }
            return AuditEntry(
                number: row.integer(0),
                access: PayloadAccess(
                    at: row.timestamp(1), payload: payload, user: row.text(3), outcome: outcome, address: row.text(5)))
        }
        return entries.reversed()
    }

    /// Returns the query for entries. It has conditions only for the columns that the caller filters by, so that SQLite
    /// uses the index of these columns.
    private static func sql(for query: AuditQuery) -> String {
        let conditions = [query.payload.map { _ in "payload = ?1" }, query.user.map { _ in "user = ?2" }]
        let condition = conditions.compactMap(\.self).joined(separator: " AND ")
        return """
            SELECT number, at, payload, user, outcome, address FROM payload_audit
            WHERE \(condition.isEmpty ? "?1 IS ?2" : condition) ORDER BY number DESC LIMIT ?3
            """
    }

    /// Removes entries that were made at or before a time.
    /// - Returns: The number of removed entries, at most `limit`.
    func removeOld(before timestamp: Timestamp, limit: Int) throws(StorageError) -> Int {
        try connection.run(
            """
            DELETE FROM payload_audit WHERE at <= ? AND number IN
                (SELECT number FROM payload_audit ORDER BY number LIMIT ?)
            """, timestamp, limit)
        return connection.changes
    }

    /// Removes the oldest refused reads. Their number must be limited, because anyone who tries ids can cause any
    /// number of them.
    /// - Parameter count: The number of refused reads to keep.
    /// - Returns: The number of removed entries, at most `limit`.
    func removeRefusals(but count: Int, limit: Int) throws(StorageError) -> Int {
        try connection.run(
            """
            DELETE FROM payload_audit WHERE number IN (
                SELECT number FROM payload_audit WHERE outcome = 'refused' AND number <= (
                    SELECT number FROM payload_audit WHERE outcome = 'refused' ORDER BY number DESC LIMIT 1 OFFSET ?)
                ORDER BY number LIMIT ?)
            """, count, limit)
        return connection.changes
    }
}
