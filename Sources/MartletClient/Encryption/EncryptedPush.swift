import MartletModel

/// The encrypted part of a push: an end-to-end encrypted message, or the id under which it is stored.
public enum EncryptedPush: Hashable, Sendable {
    /// The encrypted message, in Base64.
    case content(String)
    /// The id of an encrypted message that did not fit into the push and is stored at the server.
    case stored(id: Int32)

    /// Reads the member `encrypted` or `encryptedId` of a push's payload.
    /// - Returns: nil if both members are missing, or if the id is invalid.
    public init?(texts: [String: String]) {
        if let content = texts[PayloadName.encrypted.rawValue] {
            self = .content(content)
        } else if let id = texts[PayloadName.encryptedID.rawValue].flatMap({ Int32($0) }), id > 0 {
            self = .stored(id: id)
        } else {
            return nil
        }
    }
}
