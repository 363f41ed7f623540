/// The data that a sender needs to encrypt for a device (RFC 8291): the device's public key and its authentication
/// secret.
///
/// The server knows the public key and the secret, and gives them to senders. Without the secret, a person who has only
/// seen the public key cannot encrypt for the device. The secret does not help to decrypt.
public struct DeviceKey: Hashable, Sendable, CustomStringConvertible {
    /// The length of a public key in bytes.
    public static let publicKeyByteCount = 65
    /// The length of an authentication secret in bytes.
    public static let authSecretByteCount = 16

    /// The public key: an uncompressed point of the curve P-256, 65 bytes. Whether the point lies on the curve is
    /// checked only when the key is used.
    public let publicKey: [UInt8]
    /// The authentication secret, 16 bytes.
    public let authSecret: [UInt8]

    /// Creates a key; nil if the bytes have another length or form.
    public init?(publicKey: [UInt8], authSecret: [UInt8]) {
        guard publicKey.count == Self.publicKeyByteCount, publicKey[0] == 4,
            authSecret.count == Self.authSecretByteCount
        else { return nil }
        self.publicKey = publicKey
        self.authSecret = authSecret
    }

    /// A description that shows neither the public key nor the secret.
    public var description: String { "DeviceKey" }
}
