/// The reason why a message could not be encrypted or decrypted. Never contains any part of the plaintext.
public enum MessageCodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message is longer than `MessageCoding.messageLimit`, or the encrypted message is longer than
    /// `MessageCoding.contentLimit`.
    case tooLong
    /// The encrypted message is too short for its header and the shortest record.
    case truncated
    /// The header or the padding does not conform to RFC 8291.
    case malformed
    /// The encrypted message has more than one record.
    case severalRecords
    /// A public key is not a point of the curve P-256.
    case malformedKey
    /// The encrypted message was changed, is truncated, or is for another key.
    case notAuthentic
    /// The system's cryptography failed.
    case failed

    init(_ error: ClientCryptographyError) {
        self =
            switch error {
            case .malformedKey: .malformedKey
            case .notAuthentic: .notAuthentic
            case .failed: .failed
            }
    }

    public var description: String {
        switch self {
        case .tooLong: "The message is too long: it may have \(MessageCoding.messageLimit) bytes."
        case .truncated: "The encrypted message is cut short."
        case .malformed: "The encrypted message does not have the form of RFC 8291."
        case .severalRecords: "The encrypted message has more than one record."
        case .malformedKey: "A public key is no point of the curve P-256."
        case .notAuthentic: "The encrypted message was changed, is cut short, or is for another device's key."
        case .failed: "The system's cryptography failed."
        }
    }
}
