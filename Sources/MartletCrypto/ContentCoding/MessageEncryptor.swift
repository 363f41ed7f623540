import CMartletOpenSSL

/// Encrypts messages for receivers that each have a public key (RFC 8291), with a new key of the sender's for every
/// message.
///
/// An instance holds the working memory of one encryption, which costs more to make than the hashes and the cipher take
/// together: keep it for the next message. It belongs to one thread at a time.
public final class MessageEncryptor {
    /// What a message grows by, in bytes: header, delimiter and tag.
    public static let overhead =
        EncryptedContent.saltByteCount + 5 + P256Group.pointByteCount + EncryptedContent.recordOverhead
    /// The length of every record but the last, of which there is none: a message is one record.
    static let recordSize = 4096

    private let label: String
    private let agreement: P256Agreement
    private let hmac: HMACContext
    private let cipher: ContentCipher

    /// - Parameter label: What the messages are for, which the key derivation is told: `WebPush: info` in RFC 8291.
    /// - Throws: `CryptoError.failed` when the library has no memory left.
    public init(label: String) throws(CryptoError) {
        self.label = label
        agreement = try P256Agreement()
        hmac = try HMACContext()
        cipher = try ContentCipher()
    }

    /// Encrypts a message.
    /// - Parameters:
    ///   - message: At most 4,079 bytes, so that it is one record.
    ///   - receiver: The receiver's key, an uncompressed point of 65 bytes.
    ///   - secret: The receiver's authentication secret, 16 bytes.
    ///   - output: What the encrypted content is appended to; unchanged where the call throws.
    /// - Throws: `CryptoError.malformedPublicKey` for what is no point of the curve, `.wrongLength` for a secret of
    ///   another length or a message that is too long.
    public func encrypt(
        _ message: [UInt8], for receiver: [UInt8], secret: [UInt8], to output: inout [UInt8]
    ) throws(CryptoError) {
        while true {
            // One draw for both: the generator takes a lock.
            let random = RandomBytes.generate(P256Group.scalarByteCount + EncryptedContent.saltByteCount)
            var scalar = Array(random.prefix(P256Group.scalarByteCount))
            let salt = Array(random.dropFirst(P256Group.scalarByteCount))
            defer { OPENSSL_cleanse(&scalar, scalar.count) }
            let isDone = try encrypt(message, for: receiver, secret: secret, scalar: scalar, salt: salt, to: &output)
            // One draw in four thousand million is not below the group's order.
            if isDone { return }
        }
    }

    /// - Returns: Whether the scalar is a private key.
    func encrypt(
        _ message: [UInt8], for receiver: [UInt8], secret: [UInt8], scalar: [UInt8], salt: [UInt8],
        to output: inout [UInt8]
    ) throws(CryptoError) -> Bool {
        guard secret.count == MessageSecret.byteCount else {
            throw .wrongLength(expected: MessageSecret.byteCount, actual: secret.count)
        }
        let limit = Self.recordSize - EncryptedContent.recordOverhead
        guard message.count <= limit else { throw .wrongLength(expected: limit, actual: message.count) }
        guard let sender = try agreement.publicPoint(of: scalar) else { return false }
        let agreed = try agreement.sharedSecret(scalar, receiver)
        let material = try MessageSecret.material(
            label: label, agreed: agreed, secret: secret, receiver: receiver, sender: sender, hmac)
        let keys = try ContentKeys(material: material, salt: salt, hmac)
        let start = output.count
        output.reserveCapacity(start + message.count + Self.overhead)
        EncryptedContent.appendHeader(
            salt: salt, recordSize: UInt32(Self.recordSize), keyID: sender, to: &output)
        do throws(CryptoError) {
            // 2 is the delimiter of the last record.
            try cipher.seal(message, [2], key: keys.key, nonce: keys.nonce(0), to: &output)
        } catch {
            output.removeSubrange(start...)
            throw error
        }
        return true
    }
}
