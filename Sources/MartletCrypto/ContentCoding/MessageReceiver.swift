/// The receiver of messages from a `MessageEncryptor`: a private key and an authentication secret (RFC 8291, section
/// 2).
public struct MessageReceiver: Sendable, CustomStringConvertible {
    public let privateKey: P256PrivateKey
    /// The authentication secret, 16 bytes.
    public let secret: [UInt8]

    /// Generates a new key and a new secret.
    public static func generate() throws(CryptoError) -> MessageReceiver {
        MessageReceiver(
            privateKey: try P256PrivateKey.generate(), secret: RandomBytes.generate(MessageSecret.byteCount))
    }

    public init(privateKey: P256PrivateKey, secret: [UInt8]) {
        self.privateKey = privateKey
        self.secret = secret
    }

    /// Decrypts a message.
    /// - Parameter label: The label with which the message was encrypted.
    /// - Throws: `CryptoError.malformedPublicKey` if the content does not contain a valid sender key, and
    ///   `.authenticationFailed` if the content is not a single record for this receiver.
    public func decrypt(_ content: EncryptedContent, label: String) throws(CryptoError) -> [UInt8] {
        guard content.isSingleRecord else { throw .authenticationFailed }
        let agreed = try privateKey.sharedSecret(with: content.keyID)
        return try content.open(
            material: MessageSecret.material(
                label: label, agreed: agreed, secret: secret, receiver: privateKey.publicKey.rawPoint,
                sender: content.keyID, HMACContext()))
    }

    public var description: String { "MessageReceiver" }
}
