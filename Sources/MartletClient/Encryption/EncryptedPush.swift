/// What a push says of an end-to-end encrypted message: the message itself, or where it is.
public enum EncryptedPush: Hashable, Sendable {
    /// The encrypted message, in Base 64.
    case content(String)
    /// The server keeps the encrypted message, which did not fit into the push, under this id.
    case stored(id: Int32)

    /// Reads the texts that a push carries by name: `encrypted` or `encryptedId`.
    /// - Returns: nil where there is neither, or the id is none.
    public init?(texts: [String: String]) {
        if let content = texts["encrypted"] {
            self = .content(content)
        } else if let id = texts["encryptedId"].flatMap({ Int32($0) }), id > 0 {
            self = .stored(id: id)
        } else {
            return nil
        }
    }
}
