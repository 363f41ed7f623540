/// Base64 (RFC 4648), either with the standard alphabet and padding, or with the URL-safe alphabet and no padding.
enum Base64 {
    case standard
    case urlSafe

    private var characters: StaticString {
        switch self {
        case .standard: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        case .urlSafe: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        }
    }

    func encode(_ bytes: [UInt8]) -> String {
        let characters = UnsafeBufferPointer(start: characters.utf8Start, count: 64)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
            for digit in 0...group.count { text.append(characters[Int(bits >> (18 - 6 * UInt32(digit)) & 63)]) }
            if self == .standard { text += repeatElement(UInt8(ascii: "="), count: 3 - group.count) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text.
    /// - Returns: nil if the text contains a character that is not in the alphabet, its length is impossible, or the
    ///   unused bits at its end are not zero.
    func decode(_ text: String) -> [UInt8]? {
        var digits = Array(text.utf8)[...]
        if self == .standard {
            guard digits.count % 4 == 0 else { return nil }
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        }
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var (bits, count) = (UInt32(0), UInt32(0))
        for digit in digits {
            guard let value = value(digit) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bits & (1 << count - 1) == 0 ? bytes : nil
    }

    private func value(_ digit: UInt8) -> UInt32? {
        switch (digit, self) {
        case (UInt8(ascii: "A")...UInt8(ascii: "Z"), _): UInt32(digit) - 65
        case (UInt8(ascii: "a")...UInt8(ascii: "z"), _): UInt32(digit) - 71
        case (UInt8(ascii: "0")...UInt8(ascii: "9"), _): UInt32(digit) + 4
        case (UInt8(ascii: "+"), .standard), (UInt8(ascii: "-"), .urlSafe): 62
        case (UInt8(ascii: "/"), .standard), (UInt8(ascii: "_"), .urlSafe): 63
        default: nil
        }
    }
}
