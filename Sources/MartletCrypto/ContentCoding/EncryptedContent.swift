/// Content in the coding `aes128gcm` (RFC 8188): a header with the encryption parameters, followed by records.
public struct EncryptedContent: Sendable, Equatable, CustomStringConvertible {
    /// The number of bytes that a record has in addition to its data: the delimiter and the tag.
    public static let recordOverhead = 1 + ContentCipher.tagByteCount
    /// The length of the salt in bytes.
    public static let saltByteCount = 16

    /// The salt: 16 bytes, different for every content.
    public let salt: [UInt8]
    /// The length of every record except the last, in bytes.
    public let recordSize: Int
    /// The id by which the receiver finds the key, at most 255 bytes.
    public let keyID: [UInt8]
    let records: ArraySlice<UInt8>

    /// Parses the header; returns nil if the header is incomplete, or if the record size leaves no room for a byte of
    /// data.
    public init?(_ bytes: [UInt8]) {
        let fixed = Self.saltByteCount + 5
        guard bytes.count >= fixed, bytes.count >= fixed + Int(bytes[fixed - 1]) else { return nil }
        let size = bytes[Self.saltByteCount..<(fixed - 1)].reduce(0) { $0 << 8 | Int($1) }
        guard size > Self.recordOverhead else { return nil }
        salt = Array(bytes[..<Self.saltByteCount])
        recordSize = size
        keyID = Array(bytes[fixed..<(fixed + Int(bytes[fixed - 1]))])
        records = bytes[(fixed + keyID.count)...]
    }

    /// True if the content is a single record.
    public var isSingleRecord: Bool { records.count <= recordSize }

    /// Decrypts all records.
    /// - Parameter material: The input keying material that the sender and the receiver share.
    /// - Throws: `CryptoError.authenticationFailed` if a record was changed, is missing, or has the wrong delimiter.
    public func open(material: [UInt8]) throws(CryptoError) -> [UInt8] {
        let keys = try ContentKeys(material: material, salt: salt, HMACContext())
        let cipher = try ContentCipher()
        var content: [UInt8] = []
        var rest = records
        var number: UInt64 = 0
        repeat {
            let record = rest.prefix(recordSize)
            rest = rest.dropFirst(recordSize)
            let plaintext = try cipher.open(record, key: keys.key, nonce: keys.nonce(number))
            guard let end = plaintext.lastIndex(where: { $0 != 0 }), plaintext[end] == (rest.isEmpty ? 2 : 1) else {
                throw .authenticationFailed
            }
            content += plaintext[..<end]
            number += 1
        } while !rest.isEmpty
        return content
    }

    /// Appends the header, which precedes the records.
    static func appendHeader(salt: [UInt8], recordSize: UInt32, keyID: [UInt8], to output: inout [UInt8]) {
        output += salt
        for shift in [24, 16, 8, 0] { output.append(UInt8(truncatingIfNeeded: recordSize >> shift)) }
        output.append(UInt8(truncatingIfNeeded: keyID.count))
        output += keyID
    }

    /// A description of the content that does not reveal it.
    public var description: String { "encrypted content of \(records.count) bytes" }
}
