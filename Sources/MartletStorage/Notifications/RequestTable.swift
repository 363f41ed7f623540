import MartletCore
import MartletModel

/// Stores and reads the identities of requests, on one connection, so that a repeated request does not send twice.
struct RequestTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Returns the notification that was accepted for a request; nil if the request is not stored, or was accepted
    /// longer ago than `RequestIdentity.lifetime`.
    func find(
        _ request: RequestIdentity, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> (fingerprint: [UInt8], notification: NotificationID)? {
        try connection.first(
            "SELECT fingerprint, notification FROM requests WHERE hub = ? AND key = ? AND accepted_at > ?",
            hub.rawValue, request.key, now + (.zero - RequestIdentity.lifetime)
        ) { row throws(StorageError) in
            guard let id = NotificationID(bytes: row.bytes(1)) else {
                throw StorageError(.corrupt, "A stored request cannot be read; restore a backup.")
            }
            return (row.bytes(0), id)
        }
    }

    /// Stores a request. Replaces a stored request with the same key, whose retention period must have ended.
    func insert(_ request: RequestIdentity, _ draft: NotificationDraft) throws(StorageError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO requests (hub, key, fingerprint, notification, accepted_at) VALUES (?, ?, ?, ?, ?)
            """, draft.hub.rawValue, request.key, request.fingerprint, draft.id.bytes, draft.acceptedAt)
    }

    /// Removes requests whose retention period has ended.
    /// - Returns: The number of removed requests.
    func removeOld(at now: Timestamp, limit: Int) throws(StorageError) -> Int {
        try connection.run(
            """
            DELETE FROM requests WHERE (hub, key) IN
                (SELECT hub, key FROM requests WHERE accepted_at <= ? ORDER BY accepted_at LIMIT ?)
            """, now + (.zero - RequestIdentity.lifetime), limit)
        return connection.changes
    }
}
