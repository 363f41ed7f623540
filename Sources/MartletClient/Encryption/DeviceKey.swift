/// What a sender needs to encrypt for a device (RFC 8291): its public key and its authentication secret.
///
/// The server knows both and hands them to senders. The secret keeps those from encrypting for the device who have only
/// seen its public key; it does not help anybody to decrypt.
public struct DeviceKey: Hashable, Sendable, CustomStringConvertible {
    /// The length of a public key in bytes.
    public static let publicKeyByteCount = 65
    /// The length of an authentication secret in bytes.
    public static let authSecretByteCount = 16

    /// An uncompressed point of the curve P-256, 65 bytes. Whether it lies on the curve is found when it is used.
    public let publicKey: [UInt8]
    /// 16 bytes.
    public let authSecret: [UInt8]

    /// nil for bytes of another length or form.
    public init?(publicKey: [UInt8], authSecret: [UInt8]) {
        guard publicKey.count == Self.publicKeyByteCount, publicKey[0] == 4,
            authSecret.count == Self.authSecretByteCount
        else { return nil }
        self.publicKey = publicKey
        self.authSecret = authSecret
    }

    /// Shows neither.
    public var description: String { "DeviceKey" }
}
