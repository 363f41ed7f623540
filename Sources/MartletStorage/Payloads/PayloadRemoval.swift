import MartletCore
import MartletModel

/// Removes payloads that have expired, on one connection, a portion at a time: a broadcast has a million addressees.
struct PayloadRemoval {
    private let connection: Connection

    /// Payloads per portion, and rows.
    static let payloadLimit = 100
    static let rowLimit = 1000

    /// How long a payload may take from being added to being published.
    private static let patience: Duration = .seconds(86_400)

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Lets expire what was added and never published.
    /// - Parameter now: nil: all, because the process that was about to publish is gone.
    func expireUnpublished(at now: Timestamp?) throws(StorageError) {
        let end = now.map { $0 + (.zero - Self.patience) }
        try connection.run(
            "UPDATE payloads SET expires_at = 0 WHERE is_published = 0 AND created_at <= ifnull(?, created_at)", end)
    }

    /// A page of the payloads that have expired.
    /// - Parameter last: The last of the page before; nil for the first.
    func expired(at now: Timestamp, after last: ExpiredPayload?) throws(StorageError) -> [ExpiredPayload] {
        try connection.all(
            """
            SELECT id, body, expires_at FROM payloads
            WHERE expires_at <= ? AND (expires_at, id) > (?, ?) ORDER BY expires_at, id LIMIT ?
            """, now, last?.expiresAt ?? Timestamp(milliseconds: .min), last?.id.stored ?? 0, Self.payloadLimit
        ) { row throws(StorageError) in
            guard let id = PayloadID(rawValue: Int32(clamping: row.integer(0))) else {
                throw StorageError(.corrupt, "A stored payload cannot be read; restore a backup.")
            }
            return ExpiredPayload(id: id, body: row.optionalText(1), expiresAt: row.timestamp(2))
        }
    }

    /// - Returns: Whether nothing is left of these payloads.
    func removePortion(of ids: [PayloadID]) throws(StorageError) -> Bool {
        var rows = Self.rowLimit
        for id in ids {
            for (table, key) in [("payload_receipts", "device"), ("addressees", "user")] {
                rows -= try connection.removePortion(of: table, "payload", id.stored, by: key, limit: rows)
                guard rows > 0 else { return false }
            }
            try PayloadTable(connection).remove(id)
        }
        return true
    }
}

/// A payload that is to go.
struct ExpiredPayload {
    let id: PayloadID
    /// The name of its body, where it has one.
    let body: String?
    let expiresAt: Timestamp
}
