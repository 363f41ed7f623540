/// The key and the base nonce of encrypted content (RFC 8188, sections 2.2 and 2.3).
struct ContentKeys {
    let key: [UInt8]
    private let baseNonce: [UInt8]

    /// Derives the key and the base nonce.
    /// - Parameters:
    ///   - material: The input keying material that the sender and the receiver share.
    ///   - salt: 16 bytes, different for each content encrypted with the same material.
    init(material: [UInt8], salt: [UInt8], _ hmac: HMACContext) throws(CryptoError) {
        let extracted = try hmac.authenticationCode(for: material, key: salt)
        key = Array(try hmac.authenticationCode(for: Self.keyInfo, key: extracted).prefix(ContentCipher.keyByteCount))
        baseNonce = Array(
            try hmac.authenticationCode(for: Self.nonceInfo, key: extracted).prefix(ContentCipher.nonceByteCount))
    }

    /// Returns the nonce of a record; records are counted from 0.
    func nonce(_ record: UInt64) -> [UInt8] {
        var nonce = baseNonce
        var rest = record
        for index in nonce.indices.reversed() where rest > 0 {
            nonce[index] ^= UInt8(truncatingIfNeeded: rest)
            rest >>= 8
        }
        return nonce
    }

    // The last byte is the counter of HKDF's only block.
    private static let keyInfo = Array("Content-Encoding: aes128gcm\u{0}\u{1}".utf8)
    private static let nonceInfo = Array("Content-Encoding: nonce\u{0}\u{1}".utf8)
}
