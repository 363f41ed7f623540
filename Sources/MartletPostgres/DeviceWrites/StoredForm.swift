/// Encodes ids and handles in the format of their columns. The first byte says which format the other bytes have.
///
/// An even number of lower-case hexadecimal digits is stored as bytes, which halves the size of most tokens. A
/// registration id in the form that this server gives, `N-N-1` with 19 digits for each number N, is stored as the
/// sixteen bytes of its two numbers. Any other text is stored unchanged. Equal texts give equal bytes.
enum StoredForm {
    private static let plain: UInt8 = 1
    private static let packed: UInt8 = 0

    // MARK: Handles

    static func handle(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { digits in
            guard digits.count > 0, digits.count % 2 == 0 else { return [plain] + digits }
            var bytes: [UInt8] = [packed]
            bytes.reserveCapacity(1 + digits.count / 2)
            for index in stride(from: 0, to: digits.count, by: 2) {
                guard let high = value(of: digits[index]), let low = value(of: digits[index + 1]) else {
                    return [plain] + digits
                }
                bytes.append(high << 4 | low)
            }
            return bytes
        }
    }

    static func handle(_ bytes: UnsafeRawBufferPointer) -> String {
        guard bytes.first == packed else { return String(decoding: bytes.dropFirst(), as: UTF8.self) }
        let count = 2 * (bytes.count - 1)
        return String(unsafeUninitializedCapacity: count) { digits in
            unpack(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()), into: digits)
            return count
        }
    }

    /// Writes two hexadecimal digits for each byte.
    static func unpack(_ bytes: UnsafeRawBufferPointer, into digits: UnsafeMutableBufferPointer<UInt8>) {
        for (index, byte) in bytes.enumerated() {
            digits[index * 2] = digit(byte >> 4)
            digits[index * 2 + 1] = digit(byte & 15)
        }
    }

    /// Returns true if `bytes` are stored in packed form, so that `unpack` gives the text.
    static func isPacked(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.first == packed }

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

    // MARK: Ids

    static func id(_ text: String) -> [UInt8] { packedID(text) ?? [plain] + Array(text.utf8) }

    static func id(_ bytes: [UInt8]) -> String {
        guard bytes.first == packed, bytes.count == 17 else {
            return String(decoding: bytes.dropFirst(), as: UTF8.self)
        }
        func number(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        return "\(number(bytes[1..<9]))-\(number(bytes[9...]))-1"
    }

    private static let digitCount = 19

    private static func packedID(_ text: String) -> [UInt8]? {
        let characters = text.utf8
        guard characters.count == 2 * digitCount + 3, text.hasSuffix("-1"),
            characters.dropFirst(digitCount).first == UInt8(ascii: "-"),
            let first = number(characters.prefix(digitCount)),
            let second = number(characters.dropFirst(digitCount + 1).prefix(digitCount))
        else { return nil }
        var bytes: [UInt8] = [packed]
        bytes.reserveCapacity(17)
        for number in [first, second] {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// Returns the number of nineteen digits; nil if there is another character. Also nil if the first digit is zero,
    /// because the number does not keep leading zeros.
    private static func number(_ digits: some Sequence<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        return number < 1_000_000_000_000_000_000 ? nil : number
    }
}
