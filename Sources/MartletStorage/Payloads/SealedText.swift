import MartletCore

/// Encrypts ("seals") the text of a payload for storage. The context contains the payload's id, so that a stored text
/// can be opened only as the text of this payload.
enum SealedText {
    static let sealedColumns = [
        SealedColumn(table: "payload_texts", column: "sealed", context: "'payload_texts/' || payload")
    ]

    static func seal(_ text: [UInt8], of id: PayloadID, with sealer: any Sealer) throws(StorageError) -> [UInt8] {
        try sealer.seal(text, context: context(id))
    }

    static func open(_ sealed: [UInt8], of id: PayloadID, with sealer: any Sealer) throws(StorageError) -> [UInt8] {
        guard let text = sealer.open(sealed, context: context(id)) else {
            throw StorageError(
                .corrupt,
                "A stored payload cannot be read: this is not the encryption key that the database was written with.")
        }
        return text
    }

    private static func context(_ id: PayloadID) -> String { "payload_texts/\(id)" }
}
