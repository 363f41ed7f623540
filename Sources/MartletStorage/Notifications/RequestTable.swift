import MartletCore
import MartletModel

/// The requests that are remembered so that a repeated one does not send twice, on one connection.
struct RequestTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// What was accepted under a key and is still remembered.
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

    /// Remembers a request, in place of one that has been remembered long enough.
    func insert(_ request: RequestIdentity, _ draft: NotificationDraft) throws(StorageError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO requests (hub, key, fingerprint, notification, accepted_at) VALUES (?, ?, ?, ?, ?)
            """, draft.hub.rawValue, request.key, request.fingerprint, draft.id.bytes, draft.acceptedAt)
    }

    /// Forgets requests that have been remembered long enough.
    /// - Returns: How many.
    func removeOld(at now: Timestamp, limit: Int) throws(StorageError) -> Int {
        try connection.run(
            """
            DELETE FROM requests WHERE (hub, key) IN
                (SELECT hub, key FROM requests WHERE accepted_at <= ? ORDER BY accepted_at LIMIT ?)
            """, now + (.zero - RequestIdentity.lifetime), limit)
        return connection.changes
    }
}
