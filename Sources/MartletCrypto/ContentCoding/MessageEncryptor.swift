import CMartletOpenSSL

/// Encrypts messages for receivers with public keys (RFC 8291), with a new sender key for every message.
///
/// Not thread-safe: an instance holds the working memory of one encryption. Reuse the instance for further messages,
/// because creating it costs more than the hashes and the cipher together.
public final class MessageEncryptor {
    /// The number of bytes that encryption adds: the header, the delimiter and the tag.
    public static let overhead =
        EncryptedContent.saltByteCount + 5 + P256Group.pointByteCount + EncryptedContent.recordOverhead
    /// The record size that the header states, in bytes. A message is always a single record of at most this size.
    static let recordSize = 4096

    private let label: String
    private let agreement: P256Agreement
    private let hmac: HMACContext
    private let cipher: ContentCipher

    /// Creates an encryptor for messages with one purpose.
    /// - Parameter label: A text that names the purpose of the messages, such as `WebPush: info` in RFC 8291. It is an
    ///   input of the key derivation.
    /// - Throws: `CryptoError.failed` if OpenSSL is out of memory.
    public init(label: String) throws(CryptoError) {
        self.label = label
        agreement = try P256Agreement()
        hmac = try HMACContext()
        cipher = try ContentCipher()
    }

    /// Encrypts a message.
    /// - Parameters:
    ///   - message: The message, at most 4,079 bytes, so that it fits into one record.
    ///   - receiver: The receiver's key, an uncompressed point of 65 bytes.
    ///   - secret: The receiver's authentication secret, 16 bytes.
    ///   - output: The buffer to which the encrypted content is appended; unchanged if the call throws.
    /// - Throws: `CryptoError.malformedPublicKey` if the receiver's key is not a point on the curve, and `.wrongLength`
    ///   if the secret has the wrong length or the message is too long.
    public func encrypt(
        _ message: [UInt8], for receiver: [UInt8], secret: [UInt8], to output: inout [UInt8]
    ) throws(CryptoError) {
        while true {
            // One call generates the scalar and the salt, because the generator takes a lock.
            let random = RandomBytes.generate(P256Group.scalarByteCount + EncryptedContent.saltByteCount)
            var scalar = Array(random.prefix(P256Group.scalarByteCount))
            let salt = Array(random.dropFirst(P256Group.scalarByteCount))
            defer { OPENSSL_cleanse(&scalar, scalar.count) }
            let isDone = try encrypt(message, for: receiver, secret: secret, scalar: scalar, salt: salt, to: &output)
            // About one random scalar in four billion is not below the group's order. The loop then tries another one.
            if isDone { return }
        }
    }

    /// Encrypts a message with a given scalar as the sender's private key.
    /// - Returns: True if the scalar is a valid private key.
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
            // The byte 2 is the delimiter of the last record.
            try cipher.seal(message, [2], key: keys.key, nonce: keys.nonce(0), to: &output)
        } catch {
            output.removeSubrange(start...)
            throw error
        }
        return true
    }
}
