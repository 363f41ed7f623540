/// AES-128 in Galois/Counter mode (NIST SP 800-38D), for keys that each encrypt one message.
public enum AES128GCM {
    /// The length of a key in bytes.
    public static let keyByteCount = ContentCipher.keyByteCount
    /// The length of a nonce in bytes.
    public static let nonceByteCount = ContentCipher.nonceByteCount

    /// Encrypts a message.
    /// - Parameter nonce: 12 bytes, used only once with this key.
    /// - Returns: The ciphertext with its 16-byte tag.
    /// - Throws: `CryptoError.wrongLength` for a key or nonce of another length.
    public static func seal(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
        try check(key, nonce)
        var sealed: [UInt8] = []
        try ContentCipher().seal(plaintext, [], key: key, nonce: nonce, to: &sealed)
        return sealed
    }

    /// Decrypts the result of `seal`.
    /// - Throws: `CryptoError.authenticationFailed` if the message was not sealed with this key and nonce,
    ///   `.wrongLength` as `seal`.
    public static func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
        try check(key, nonce)
        return try ContentCipher().open(sealed[...], key: key, nonce: nonce)
    }

    private static func check(_ key: [UInt8], _ nonce: [UInt8]) throws(CryptoError) {
        for (bytes, length) in [(key, keyByteCount), (nonce, nonceByteCount)] where bytes.count != length {
            throw .wrongLength(expected: length, actual: bytes.count)
        }
    }
}
