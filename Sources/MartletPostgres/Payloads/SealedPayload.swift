import MartletCore
import MartletModel

/// A payload for an addressee. Its text is still encrypted ("sealed").
struct SealedPayload {
    private let id: PayloadID
    /// The draft, with the sealed text in place of the readable text.
    let draft: PayloadDraft
    let readAt: Timestamp?

    /// Reads a row of `PayloadStatements.find`.
    /// - Returns: nil if the user may not fetch the payload.
    init?(_ id: PayloadID, _ row: Row, at now: Timestamp) throws(StorageError) {
        guard Self.mayFetch(row, at: now) else { return nil }
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

    private static func mayFetch(_ row: Row, at now: Timestamp) -> Bool {
        let isThere = !row.isNull(0) && row.bool(11) && row.timestamp(10) > now
        let isAddressee = row.bool(12) && isThere && !(row.bool(7) && !row.isNull(13))
        let isNewcomer = row.optionalTimestamp(14).map { isThere && $0 > row.timestamp(9) } ?? false
        return isThere && isAddressee && !isNewcomer
    }

    func opened(with sealer: any Sealer) throws(StorageError) -> AddressedPayload {
        var draft = draft
        if case .text(let sealed) = draft.content {
            guard let text = sealer.open(sealed, context: Self.context(id)) else {
                throw StorageError(
                    .corrupt,
                    "A stored payload cannot be read: this is not the encryption key that the database was written "
                        + "with.")
            }
            draft.content = .text(text)
        }
        return AddressedPayload(payload: StoredPayload(id: id, draft), readAt: readAt)
    }

    /// Returns the context with which a payload's text is sealed, so that the text can be opened only as the text of
    /// this payload.
    static func context(_ id: PayloadID) -> String { "payload_texts/\(id)" }
}
