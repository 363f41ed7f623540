import CMartletOpenSSL

/// Compares secrets in a time that does not depend on the position of the first difference.
public enum ConstantTime {
    /// Returns true if both arrays contain the same bytes. The comparison does not hide the length.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        guard !left.isEmpty else { return true }
        return CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// Returns true if both texts have the same bytes in UTF-8.
    public static func areEqual(_ left: String, _ right: String) -> Bool {
        areEqual(Array(left.utf8), Array(right.utf8))
    }
}
