/// AES-128 in Galois/Counter mode (NIST SP 800-38D), for keys that are each used for one message.
public enum AES128GCM {
    /// The length of a key in bytes.
    public static let keyByteCount = ContentCipher.keyByteCount
    /// The length of a nonce in bytes.
    public static let nonceByteCount = ContentCipher.nonceByteCount

    /// Encrypts a message.
    /// - Parameter nonce: 12 bytes, used only once with this key.
    /// - Returns: The ciphertext, followed by its 16-byte tag.
    /// - Throws: `CryptoError.wrongLength` if the key or the nonce has the wrong length.
    public static func seal(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
        try check(key, nonce)
        var sealed: [UInt8] = []
        try ContentCipher().seal(plaintext, [], key: key, nonce: nonce, to: &sealed)
        return sealed
    }

    /// Decrypts the result of `seal`.
    /// - Throws: `CryptoError.authenticationFailed` if the message was not encrypted with this key and nonce, and
    ///   `.wrongLength` as in `seal`.
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
