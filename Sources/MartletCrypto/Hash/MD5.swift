import CMartletOpenSSL

/// The MD5 checksum (RFC 1321), for protocols that require it. Not secure.
public enum MD5 {
    /// The length of a checksum in bytes.
    public static let byteCount = 16

    /// Returns the 16-byte checksum of `bytes`.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initialized in
            var count: UInt32 = 0
            EVP_Digest(bytes, bytes.count, buffer.baseAddress, &count, EVP_md5(), nil)
            initialized = Int(count)
        }
    }
}
