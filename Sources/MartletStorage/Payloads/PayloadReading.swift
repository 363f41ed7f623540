import MartletCore
import MartletModel

/// Reads payloads for their users, and records that they were read, on one connection.
struct PayloadReading {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Returns a payload if a user may read it at a time; otherwise nil.
    func find(_ id: PayloadID, for user: String, at now: Timestamp) throws(StorageError) -> SealedPayload? {
        let found = try connection.first(Self.lookUp, id.stored, user) { row throws(StorageError) in
            SealedPayload.mayFetch(row, at: now) ? try SealedPayload(id, row) : nil
        }
        return found ?? nil
    }

    /// Reads a payload like `find`. Also records the read or the refused read in the audit, marks the payload as read
    /// by the user, and removes the text after the last addressee has read a payload that can be read only once.
    /// - Returns: The payload, and whether its text has been removed.
    func read(
        _ id: PayloadID, for user: String, at now: Timestamp, from address: String
    ) throws(StorageError) -> (payload: SealedPayload?, removedText: Bool) {
        let found = try find(id, for: user, at: now)
        try AuditTable(connection).insert(
            PayloadAccess(
                at: now, payload: id, user: user, outcome: found == nil ? .refused : .read, address: address))
        guard let found, found.readAt == nil else { return (found, false) }
        try connection.run("UPDATE addressees SET read_at = ? WHERE payload = ? AND user = ?", now, id.stored, user)
        guard found.draft.isOnce else { return (found, false) }
        let unread = try connection.first(
            "UPDATE payloads SET unread = unread - 1 WHERE id = ? RETURNING unread", id.stored
        ) { $0.integer(0) }
        guard unread == 0 else { return (found, false) }
        return (found, try PayloadTable(connection).removeText(of: id))
    }

    /// The query for a payload. It always makes the same look-ups and returns one row, so that its duration does not
    /// reveal whether the payload exists.
    static let lookUp = """
        SELECT p.kind, p.sender, p.type, p.content_type, p.message, p.body, p.size, p.is_once, p.device, p.created_at,
            p.expires_at, p.is_published, a.user IS NOT NULL, a.read_at, u.created_at, t.sealed
        FROM (SELECT 1) LEFT JOIN payloads p ON p.id = ?1 LEFT JOIN addressees a ON a.payload = ?1 AND a.user = ?2
            LEFT JOIN users u ON u.folded_name = ?2 LEFT JOIN payload_texts t ON t.payload = ?1
        """

    /// Returns addressees of a payload, in the order of their names. Each comes with the time at which this addressee
    /// read the payload, or without a time.
    /// - Returns: The addressees; nil if the user has not sent this payload, or if the payload is not published or has
    ///   expired.
    func readers(
        of id: PayloadID, sentBy user: String, after name: String?, limit: Int, at now: Timestamp
    ) throws(StorageError) -> [PayloadReader]? {
        let isSender = try connection.first(
            """
            SELECT 1 FROM payloads p LEFT JOIN users u ON u.folded_name = ?2
            WHERE p.id = ?1 AND p.sender = ?2 AND p.is_published = 1 AND p.expires_at > ?3
                AND (u.created_at IS NULL OR u.created_at <= p.created_at)
            """, id.stored, user, now
        ) { _ in true }
        guard isSender != nil else { return nil }
        return try connection.all(
            "SELECT user, read_at FROM addressees WHERE payload = ? AND user > ? ORDER BY user LIMIT ?", id.stored,
            name ?? "", limit
        ) { PayloadReader(user: $0.text(0), readAt: $0.optionalTimestamp(1)) }
    }
}

/// A payload for an addressee. Its text is still encrypted ("sealed").
struct SealedPayload {
    private let id: PayloadID
    /// The draft, with the sealed text instead of the text.
    let draft: PayloadDraft
    let readAt: Timestamp?

    func opened(with sealer: any Sealer) throws(StorageError) -> AddressedPayload {
        var draft = draft
        if case .text(let sealed) = draft.content {
            draft.content = .text(try SealedText.open(sealed, of: id, with: sealer))
        }
        return AddressedPayload(payload: StoredPayload(id: id, draft), readAt: readAt)
    }
}

extension SealedPayload {
    fileprivate static func mayFetch(_ row: Statement, at now: Timestamp) -> Bool {
        let isThere = !row.isNull(0) && row.bool(11) && row.timestamp(10) > now
        let isAddressee = row.bool(12) && !(row.bool(7) && !row.isNull(13))
        let isNewcomer = row.optionalTimestamp(14).map { $0 > row.timestamp(9) } ?? false
        return isThere && isAddressee && !isNewcomer
    }

    fileprivate init(_ id: PayloadID, _ row: Statement) throws(StorageError) {
        guard let kind = StoredPayload.Kind(rawValue: row.text(0)), !row.isNull(5) || !row.isNull(15) else {
            throw StorageError(.corrupt, "A stored payload cannot be read; restore a backup.")
        }
        let body = row.optionalText(5).map { StoredPayload.Content.body(name: $0, size: row.integer(6)) }
        self.id = id
        draft = PayloadDraft(
            kind: kind, sender: row.text(1), type: row.text(2), contentType: row.text(3), message: row.text(4),
            content: body ?? .text(row.bytes(15)), isOnce: row.bool(7), device: row.optionalText(8),
            createdAt: row.timestamp(9), expiresAt: row.timestamp(10))
        readAt = row.optionalTimestamp(13)
    }
}
