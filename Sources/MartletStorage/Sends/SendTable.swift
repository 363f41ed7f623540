import MartletCore
import MartletModel

/// Stores and reads the records of requests that send in several steps (`SendRecord`), on one connection.
struct SendTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func record(_ key: [UInt8], at now: Timestamp) throws(StorageError) -> SendRecord? {
        try connection.first(
            "SELECT fingerprint, payloads, started_at, is_complete FROM sends WHERE key = ? AND started_at > ?",
            key, now + (.zero - RequestIdentity.lifetime)
        ) { row throws(StorageError) in
            SendRecord(
                RequestIdentity(key: key, fingerprint: row.bytes(0)), payloads: try Self.payloads(row.text(1)),
                startedAt: row.timestamp(2), isComplete: row.integer(3) != 0)
        }
    }

    /// Adds a record, unless there is one with the same key whose retention period has not ended.
    /// - Returns: The stored record, which may be the earlier one.
    func add(_ record: SendRecord) throws(StorageError) -> SendRecord {
        if let known = try self.record(record.request.key, at: record.startedAt) { return known }
        let payloads = record.payloads.map { ($0.map(\.description) ?? "") + "," }.joined()
        try connection.run(
            """
            INSERT OR REPLACE INTO sends (key, fingerprint, payloads, started_at, is_complete) VALUES (?, ?, ?, ?, ?)
            """, record.request.key, record.request.fingerprint, payloads, record.startedAt, record.isComplete)
        return record
    }

    func complete(_ key: [UInt8]) throws(StorageError) {
        try connection.run("UPDATE sends SET is_complete = 1 WHERE key = ?", key)
    }

    func remove(_ key: [UInt8]) throws(StorageError) {
        try connection.run("DELETE FROM sends WHERE key = ?", key)
    }

    /// Removes records whose retention period has ended.
    /// - Returns: The number of removed records, at most `limit`.
    func removeOld(at now: Timestamp, limit: Int) throws(StorageError) -> Int {
        try connection.run(
            "DELETE FROM sends WHERE key IN (SELECT key FROM sends WHERE started_at <= ? ORDER BY started_at LIMIT ?)",
            now + (.zero - RequestIdentity.lifetime), limit)
        return connection.changes
    }

    private static func payloads(_ text: String) throws(StorageError) -> [PayloadID?] {
        var payloads: [PayloadID?] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false).dropLast() {
            let id = PayloadID(String(part))
            guard part.isEmpty || id != nil else {
                throw StorageError(.corrupt, "A stored send cannot be read; restore a backup.")
            }
            payloads.append(id)
        }
        return payloads
    }
}
