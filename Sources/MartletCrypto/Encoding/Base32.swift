/// Base32 encoding (RFC 4648 section 6), without padding.
public enum Base32 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Returns the Base32 text of the bytes in upper case: 8 characters for 5 bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var (buffer, bits): (UInt16, Int) = (0, 0)
        for byte in bytes {
            buffer = buffer << 8 | UInt16(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(digits[Int(buffer >> UInt16(bits) & 31)])
            }
            // Drops the bits that have already been written as digits. At most four bits remain.
            buffer &= 31
        }
        if bits > 0 { text.append(digits[Int(buffer << UInt16(5 - bits) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }
}
