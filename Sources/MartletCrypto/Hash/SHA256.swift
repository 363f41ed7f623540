import CMartletOpenSSL

/// The hash function SHA-256 (FIPS 180-4).
public enum SHA256 {
    /// The length of a digest in bytes.
    public static let byteCount = 32

    /// Returns the 32-byte digest of `bytes`.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initialized in
            _ = CMartletOpenSSL.SHA256(bytes, bytes.count, buffer.baseAddress)
            initialized = byteCount
        }
    }
}
