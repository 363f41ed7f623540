import MartletModel

/// A message that this device has decrypted.
///
/// Successful decryption does not prove who encrypted the message, because the server has everything that is needed to
/// encrypt for this device.
public struct DecryptedMessage: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The message after decryption, as bytes.
    public let bytes: [UInt8]

    /// The message as text; nil if it is not valid UTF-8.
    public var text: String? { String(utf8: bytes) }

    /// A description without the content.
    public var description: String { "decrypted message of \(bytes.count) bytes" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
