/// The key derivation function HKDF with SHA-256 (RFC 5869).
public enum HKDF {
    /// Derives `count` bytes (at most 8,160) from `secret`.
    ///
    /// - Parameters:
    ///   - secret: The input key material.
    ///   - salt: The salt, which is not secret; empty means 32 zero bytes.
    ///   - info: The purpose of the derived key, so that keys for different purposes differ.
    ///   - count: The number of bytes to derive.
    public static func derive(
        _ count: Int, from secret: [UInt8], salt: [UInt8], info: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        guard count <= 255 * SHA256.byteCount else {
            throw .wrongLength(expected: 255 * SHA256.byteCount, actual: count)
        }
        let salt = salt.isEmpty ? [UInt8](repeating: 0, count: SHA256.byteCount) : salt
        let extracted = try HMACSHA256.authenticationCode(for: secret, key: salt)
        let expander = try HMACSHA256(key: extracted)
        var output: [UInt8] = []
        var block: [UInt8] = []
        var counter: UInt8 = 1
        while output.count < count {
            block = try expander.authenticationCode(for: block + info + [counter])
            output += block
            counter &+= 1
        }
        return Array(output.prefix(count))
    }
}
