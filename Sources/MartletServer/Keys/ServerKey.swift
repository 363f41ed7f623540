import MartletCrypto

/// A secret of 32 bytes, from which a key for each purpose is derived.
struct ServerKey: Sendable {
    /// The length of a key's id, in bytes.
    static let idByteCount = 4

    /// Identifies the key without revealing it. Every sealed secret begins with the id.
    let id: [UInt8]
    private let secret: SecretBytes

    static func generate() throws(CryptoError) -> ServerKey {
        try ServerKey(RandomBytes.generate(AESGCM.keyByteCount))
    }

    /// Creates a key of 32 bytes.
    /// - Throws: `CryptoError.wrongLength` if there are not exactly 32 bytes.
    init(_ bytes: [UInt8]) throws(CryptoError) {
        guard bytes.count == AESGCM.keyByteCount else {
            throw .wrongLength(expected: AESGCM.keyByteCount, actual: bytes.count)
        }
        secret = SecretBytes(bytes)
        id = try Self.derive("key-id", from: bytes, count: Self.idByteCount)
    }

    /// The key as it is stored: 64 hexadecimal digits.
    var text: String { Hex.encode(secret.bytes) }

    /// Derives a key for one purpose from this key, with HKDF (RFC 5869). Keys of different purposes are unrelated.
    func derive(_ purpose: String, count: Int) throws(CryptoError) -> [UInt8] {
        try Self.derive(purpose, from: secret.bytes, count: count)
    }

    private static func derive(_ purpose: String, from secret: [UInt8], count: Int) throws(CryptoError) -> [UInt8] {
        try HKDF.derive(count, from: secret, salt: [], info: Array("martlet \(purpose)".utf8))
    }
}
