import MartletModel

/// A message that this device has decrypted.
///
/// That it was encrypted for this device does not prove who did it: the server knows all that is needed to encrypt.
public struct DecryptedMessage: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// What was encrypted.
    public let bytes: [UInt8]

    /// The same as a text; nil where it is none in UTF-8.
    public var text: String? { String(utf8: bytes) }

    /// Shows no content.
    public var description: String { "decrypted message of \(bytes.count) bytes" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
