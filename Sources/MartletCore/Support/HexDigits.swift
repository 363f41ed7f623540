/// Converts between bytes and lower-case hexadecimal digits. Handles that consist of such digits are stored as bytes,
/// which need half the space.
public enum HexDigits {
    /// Returns the bytes of an even number of lower-case digits, at least two; nil for any other text.
    public static func bytes(of text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        return appendBytes(of: text, to: &bytes) ? bytes : nil
    }

    /// Appends the bytes of an even number of lower-case digits, at least two.
    /// - Returns: Whether the text consists of such digits; if not, nothing is appended.
    public static func appendBytes(of text: String, to bytes: inout [UInt8]) -> Bool {
        var text = text
        let start = bytes.count
        let isPacked = text.withUTF8 { digits in
            guard digits.count > 0, digits.count.isMultiple(of: 2) else { return false }
            bytes.reserveCapacity(bytes.count + digits.count / 2)
            var index = 0
            while index < digits.count {
                guard let high = value(of: digits[index]), let low = value(of: digits[index + 1]) else { return false }
                bytes.append(high << 4 | low)
                index += 2
            }
            return true
        }
        if !isPacked { bytes.removeSubrange(start...) }
        return isPacked
    }

    /// Returns two lower-case hexadecimal digits for each byte.
    public static func text(of bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { digits in
            write(bytes, into: digits)
            return bytes.count * 2
        }
    }

    /// Writes two lower-case hexadecimal digits for each byte. Converts four bytes at a time, because this function
    /// runs once for every push.
    public static func write(_ bytes: UnsafeBufferPointer<UInt8>, into digits: UnsafeMutableBufferPointer<UInt8>) {
        let (input, output) = (UnsafeRawBufferPointer(bytes), UnsafeMutableRawBufferPointer(digits))
        var index = 0
        while index + 4 <= bytes.count {
            let four = UInt32(littleEndian: input.loadUnaligned(fromByteOffset: index, as: UInt32.self))
            output.storeBytes(of: Self.digits(of: four).littleEndian, toByteOffset: index * 2, as: UInt64.self)
            index += 4
        }
        while index < bytes.count {
            digits[index * 2] = digit(bytes[index] >> 4)
            digits[index * 2 + 1] = digit(bytes[index] & 15)
            index += 1
        }
    }

    /// Returns the eight hexadecimal digits of a four-byte word, each in one byte of the result.
    private static func digits(of four: UInt32) -> UInt64 {
        var pairs = UInt64(four)
        pairs = (pairs | pairs << 16) & 0x0000_FFFF_0000_FFFF
        pairs = (pairs | pairs << 8) & 0x00FF_00FF_00FF_00FF
        let values = (pairs >> 4 | pairs << 8) & 0x0F0F_0F0F_0F0F_0F0F
        let areLetters = (values &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return values &+ 0x3030_3030_3030_3030 &+ areLetters &* 0x27
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
