import CMartletOpenSSL

/// Compares secrets in a time that does not depend on where they differ.
public enum ConstantTime {
    /// True if both are the same bytes. The length is not hidden.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        guard !left.isEmpty else { return true }
        return CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// True if both are the same text, byte by byte in UTF-8.
    public static func areEqual(_ left: String, _ right: String) -> Bool {
        areEqual(Array(left.utf8), Array(right.utf8))
    }
}
