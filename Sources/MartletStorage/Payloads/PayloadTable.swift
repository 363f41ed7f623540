import MartletCore
import MartletModel

/// Stores and reads payloads with their addressees, on one connection.
struct PayloadTable {
    let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    // MARK: Sending

    func add(_ draft: PayloadDraft, quota: Int64, _ sealer: any Sealer) throws(StorageError) -> PayloadAddition {
        let size = draft.content.countedSize
        guard size <= quota, try liveSize(of: draft.sender, at: draft.createdAt) <= quota - size else {
            return .overQuota
        }
        let id = try freshID()
        try insert(draft, as: id)
        if case .text(let bytes) = draft.content {
            try connection.run(
                "INSERT INTO payload_texts (payload, sealed) VALUES (?, ?)", id.stored,
                try SealedText.seal(bytes, of: id, with: sealer))
        }
        try count(size, for: draft.sender)
        return .added(id)
    }

    /// Adds addressees. Does nothing if the payload does not exist any more or is already published.
    func addAddressees(_ users: [String], of id: PayloadID) throws(StorageError) {
        var added = 0
        for user in users {
            try connection.run(
                """
                INSERT OR IGNORE INTO addressees (payload, user)
                SELECT id, ? FROM payloads WHERE id = ? AND is_published = 0
                """, user, id.stored)
            added += connection.changes
        }
        try connection.run("UPDATE payloads SET unread = unread + ? WHERE id = ?", added, id.stored)
    }

    func publish(_ id: PayloadID) throws(StorageError) {
        try connection.run("UPDATE payloads SET is_published = 1 WHERE id = ?", id.stored)
    }

    /// Removes the text of a payload now, and lets the payload expire. The next sweep removes the rest.
    func withdraw(_ id: PayloadID) throws(StorageError) {
        try removeText(of: id)
        try connection.run("UPDATE payloads SET expires_at = 0 WHERE id = ?", id.stored)
    }

    private func freshID() throws(StorageError) -> PayloadID {
        while true {
            let id = PayloadID.random()
            let taken = try connection.first("SELECT 1 FROM payloads WHERE id = ?", id.stored) { _ in true }
            if taken == nil { return id }
        }
    }

    private func insert(_ draft: PayloadDraft, as id: PayloadID) throws(StorageError) {
        try connection.run(
            """
            INSERT INTO payloads (id, kind, sender, type, content_type, message, body, size, is_once, unread, device,
                is_published, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, ?, ?)
            """, id.stored, draft.kind.rawValue, draft.sender, draft.type, draft.contentType, draft.message,
            draft.content.body, draft.content.size, draft.isOnce, draft.device, draft.createdAt, draft.expiresAt)
    }

    // MARK: Quotas

    /// Returns the size in bytes that a sender's unexpired payloads count against the quota. The query subtracts the
    /// expired payloads from the sender's total. Expired payloads are few, because they are removed soon.
    func liveSize(of sender: String, at now: Timestamp) throws(StorageError) -> Int64 {
        try connection.first(
            """
            SELECT ifnull((SELECT size FROM payload_totals WHERE sender = ?1), 0)
                - ifnull((SELECT sum(size + ?3) FROM payloads WHERE sender = ?1 AND expires_at <= ?2), 0)
            """, sender, now, StoredPayload.recordSize
        ) { $0.integer(0) } ?? 0
    }

    private func count(_ size: Int64, for sender: String) throws(StorageError) {
        try connection.run(
            """
            INSERT INTO payload_totals (sender, size) VALUES (?, ?)
            ON CONFLICT (sender) DO UPDATE SET size = size + excluded.size
            """, sender, size)
    }

    /// Subtracts a size from a sender's total, and removes the total if it is zero.
    private func discount(_ size: Int64, for sender: String) throws(StorageError) {
        try connection.run("UPDATE payload_totals SET size = size - ? WHERE sender = ?", size, sender)
        try connection.run("DELETE FROM payload_totals WHERE sender = ? AND size <= 0", sender)
    }

    // MARK: Removing

    /// Removes the text of a payload, and subtracts the size of the text from the sender's total.
    /// - Returns: Whether the payload had a text.
    @discardableResult
    func removeText(of id: PayloadID) throws(StorageError) -> Bool {
        try connection.run("DELETE FROM payload_texts WHERE payload = ?", id.stored)
        guard connection.changes > 0 else { return false }
        let found = try connection.first("SELECT sender, size FROM payloads WHERE id = ?", id.stored) { row in
            (sender: row.text(0), size: row.integer(1))
        }
        guard let found else { return true }
        try connection.run("UPDATE payloads SET size = 0 WHERE id = ?", id.stored)
        try discount(found.size, for: found.sender)
        return true
    }

    /// Removes a payload whose rows in other tables have been removed.
    func remove(_ id: PayloadID) throws(StorageError) {
        let removed = try connection.first(
            "DELETE FROM payloads WHERE id = ? RETURNING sender, size", id.stored
        ) { row in (sender: row.text(0), size: row.integer(1)) }
        if let removed { try discount(removed.size + StoredPayload.recordSize, for: removed.sender) }
    }
}

extension PayloadID {
    var stored: Int64 { Int64(rawValue) }
}

extension StoredPayload.Content {
    fileprivate var body: String? {
        switch self {
        case .text: nil
        case .body(let name, _): name
        }
    }
}
