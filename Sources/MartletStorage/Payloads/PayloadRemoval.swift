import MartletCore
import MartletModel

/// Removes payloads that have expired, on one connection. It works in portions, because a payload has a row for each
/// addressee, and a broadcast can have a million addressees.
struct PayloadRemoval {
    private let connection: Connection

    /// The maximum number of payloads in a page of `expired`, and the maximum number of rows in a portion.
    static let payloadLimit = 100
    static let rowLimit = 1000

    /// The maximum time between adding a payload and publishing it. After that, an unpublished payload expires.
    private static let patience: Duration = .seconds(86_400)

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Expires payloads that were added and never published.
    /// - Parameter now: The current time; nil expires all of them, because the process that was going to publish them
    ///   has ended.
    func expireUnpublished(at now: Timestamp?) throws(StorageError) {
        let end = now.map { $0 + (.zero - Self.patience) }
        try connection.run(
            "UPDATE payloads SET expires_at = 0 WHERE is_published = 0 AND created_at <= ifnull(?, created_at)", end)
    }

    /// Returns a page of the payloads that have expired, the earliest expiry first.
    /// - Parameter last: The last payload of the previous page; nil for the first page.
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

    /// Removes a portion of the rows of some payloads, and each payload that has no rows in other tables any more.
    /// - Returns: Whether all these payloads have been removed.
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

/// An expired payload, which is to be removed.
struct ExpiredPayload {
    let id: PayloadID
    /// The name of the payload's body, if it has one.
    let body: String?
    let expiresAt: Timestamp
}
