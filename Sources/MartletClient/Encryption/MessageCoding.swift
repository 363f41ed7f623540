/// The encryption of messages for one device, and their decryption on that device. It follows RFC 8291, which defines
/// the encryption of Web Push messages, with the content coding `aes128gcm` (RFC 8188).
///
/// Each message is a single record, encrypted with a key pair that is used for this message only. The message is padded
/// (see `MessagePadding`), so that its length reveals little. Only the holder of the device's private key can read the
/// message, and a modified message is refused. The sender is not authenticated, because anyone who has the device's
/// `DeviceKey` can create a message.
public struct MessageCoding: Sendable {
    /// The maximum length of a message, in bytes.
    public static let messageLimit = contentLimit - overhead
    /// The maximum length of an encrypted message, in bytes.
    static let contentLimit = 65_536
    /// The number of bytes that encryption adds to a message, apart from the padding: header, delimiter and tag.
    static let overhead = headerByteCount + 1 + tagByteCount

    static let saltByteCount = 16
    static let keyByteCount = 16
    static let nonceByteCount = 12
    static let tagByteCount = 16
    /// The length of the header in bytes: salt, record size, and the sender's public key with its length.
    static let headerByteCount = saltByteCount + 4 + 1 + DeviceKey.publicKeyByteCount
    /// The record size in the example of RFC 8291 and in browsers. Longer messages need a larger record size.
    private static let defaultRecordSize = 4096

    let cryptography: any ClientCryptography

    /// Creates a coding that uses the given cryptographic primitives.
    public init(_ cryptography: any ClientCryptography) {
        self.cryptography = cryptography
    }

    /// Encrypts a message for a device.
    /// - Parameter message: At most `messageLimit` bytes.
    /// - Throws: `MessageCodingError`: `.tooLong`, `.malformedKey` if the key is not on the curve, or `.failed`.
    public func encrypt(_ message: [UInt8], for key: DeviceKey) throws(MessageCodingError) -> [UInt8] {
        guard message.count <= Self.messageLimit else { throw .tooLong }
        do throws(ClientCryptographyError) {
            return try encrypt(
                message, for: key, sender: cryptography.makePrivateKey(),
                salt: cryptography.randomBytes(Self.saltByteCount), padding: MessagePadding.length(for: message.count))
        } catch {
            throw MessageCodingError(error)
        }
    }

    /// Decrypts a message with the device's key.
    /// - Throws: `MessageCodingError`, which says why decryption failed.
    public func decrypt(_ content: [UInt8], with keyPair: DeviceKeyPair) throws(MessageCodingError) -> [UInt8] {
        guard content.count <= Self.contentLimit else { throw .tooLong }
        let header = try Header(content)
        let record = content[Self.headerByteCount...]
        guard record.count <= header.recordSize else { throw .severalRecords }
        let plaintext: [UInt8]
        do throws(ClientCryptographyError) {
            let agreed = try cryptography.sharedSecret(of: keyPair.privateKey, and: header.sender)
            let keys = try keys(agreed: agreed, sender: header.sender, receiver: keyPair.key, salt: header.salt)
            plaintext = try cryptography.open(Array(record), key: keys.key, nonce: keys.nonce)
        } catch {
            throw MessageCodingError(error)
        }
        // The plaintext must end with the delimiter of the last record, followed only by zeros.
        guard let end = plaintext.lastIndex(where: { $0 != 0 }), plaintext[end] == 2 else { throw .malformed }
        return Array(plaintext[..<end])
    }

    /// Encrypts a message for a device with the given private key, salt and padding.
    /// - Parameters:
    ///   - sender: A private key that is used for this message only.
    ///   - salt: 16 bytes, different for every message.
    ///   - padding: The number of zeros after the delimiter.
    func encrypt(
        _ message: [UInt8], for key: DeviceKey, sender privateKey: [UInt8], salt: [UInt8], padding: Int
    ) throws(ClientCryptographyError) -> [UInt8] {
        let sender = try cryptography.publicKey(of: privateKey)
        let agreed = try cryptography.sharedSecret(of: privateKey, and: key.publicKey)
        let keys = try keys(agreed: agreed, sender: sender, receiver: key, salt: salt)
        let plaintext = message + [2] + repeatElement(0, count: padding)
        let record = try cryptography.seal(plaintext, key: keys.key, nonce: keys.nonce)
        let header = Header(
            salt: salt, recordSize: max(Self.defaultRecordSize, record.count), sender: sender)
        return header.bytes + record
    }

    /// Derives the keys according to RFC 8291, section 3.4, then RFC 8188, sections 2.2 and 2.3. Every HKDF output is a
    /// single block, whose counter is the last byte of its info parameter.
    private func keys(
        agreed: [UInt8], sender: [UInt8], receiver: DeviceKey, salt: [UInt8]
    ) throws(ClientCryptographyError) -> (key: [UInt8], nonce: [UInt8]) {
        let shared = try cryptography.hmacSHA256(agreed, key: receiver.authSecret)
        let material = try cryptography.hmacSHA256(
            Array("WebPush: info\u{0}".utf8) + receiver.publicKey + sender + [1], key: shared)
        let extracted = try cryptography.hmacSHA256(material, key: salt)
        let key = try cryptography.hmacSHA256(Array("Content-Encoding: aes128gcm\u{0}\u{1}".utf8), key: extracted)
        let nonce = try cryptography.hmacSHA256(Array("Content-Encoding: nonce\u{0}\u{1}".utf8), key: extracted)
        return (Array(key.prefix(Self.keyByteCount)), Array(nonce.prefix(Self.nonceByteCount)))
    }
}

extension MessageCoding {
    /// The header in front of the record (RFC 8188, section 2.1; RFC 8291, section 4).
    private struct Header {
        var salt: [UInt8]
        var recordSize: Int
        var sender: [UInt8]

        init(salt: [UInt8], recordSize: Int, sender: [UInt8]) {
            self.salt = salt
            self.recordSize = recordSize
            self.sender = sender
        }

        init(_ content: [UInt8]) throws(MessageCodingError) {
            let start = MessageCoding.headerByteCount - DeviceKey.publicKeyByteCount
            guard content.count > start else { throw .truncated }
            guard Int(content[start - 1]) == DeviceKey.publicKeyByteCount else { throw .malformed }
            // An encrypted message without room for a record is refused. A record has at least a delimiter and a tag.
            guard content.count >= MessageCoding.overhead else { throw .truncated }
            salt = Array(content[..<MessageCoding.saltByteCount])
            recordSize = content[MessageCoding.saltByteCount..<(start - 1)].reduce(0) { $0 << 8 | Int($1) }
            guard recordSize > MessageCoding.tagByteCount + 1 else { throw .malformed }
            sender = Array(content[start..<MessageCoding.headerByteCount])
        }

        var bytes: [UInt8] {
            let size = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: recordSize >> $0) }
            return salt + size + [UInt8(sender.count)] + sender
        }
    }
}
