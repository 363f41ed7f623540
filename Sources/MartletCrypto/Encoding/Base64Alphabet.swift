/// The two alphabets of Base64, which differ in their last two characters.
enum Base64Alphabet {
    case standard
    case urlSafe

    // A static string needs no initialisation and no reference counting.
    private var characters: StaticString {
        switch self {
        case .standard: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        case .urlSafe: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        }
    }

    func encode(_ bytes: [UInt8], padded: Bool) -> String {
        let characters = characters.utf8Start
        return String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { output in
            var written = 0
            func write(_ bits: UInt32, _ count: Int) {
                for index in 0..<count {
                    output[written] = characters[Int(bits >> (18 - 6 * UInt32(index)) & 63)]
                    written += 1
                }
            }
            var index = 0
            while index + 3 <= bytes.count {
                write(UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]), 4)
                index += 3
            }
            let rest = bytes.count - index
            guard rest > 0 else { return written }
            let second = rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0
            write(UInt32(bytes[index]) << 16 | second, rest + 1)
            if padded {
                for _ in rest..<3 {
                    output[written] = UInt8(ascii: "=")
                    written += 1
                }
            }
            return written
        }
    }

    func decode(_ text: [UInt8], padded: Bool) -> [UInt8]? {
        guard let digitCount = digitCount(of: text, padded: padded) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digitCount * 3 / 4)
        var bits: UInt32 = 0
        var bitCount = 0
        for index in 0..<digitCount {
            guard let value = value(text[index]) else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        // The unused low bits must be zero; otherwise one value would have several encodings.
        return bits & (1 << UInt32(bitCount) - 1) == 0 ? bytes : nil
    }

    private func digitCount(of text: [UInt8], padded: Bool) -> Int? {
        guard padded else { return text.count % 4 == 1 ? nil : text.count }
        guard text.count % 4 == 0 else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return text.count - padding
    }

    private func value(_ character: UInt8) -> UInt8? {
        switch (character, self) {
        case (UInt8(ascii: "A")...UInt8(ascii: "Z"), _): character - UInt8(ascii: "A")
        case (UInt8(ascii: "a")...UInt8(ascii: "z"), _): character - UInt8(ascii: "a") + 26
        case (UInt8(ascii: "0")...UInt8(ascii: "9"), _): character - UInt8(ascii: "0") + 52
        case (UInt8(ascii: "+"), .standard), (UInt8(ascii: "-"), .urlSafe): 62
        case (UInt8(ascii: "/"), .standard), (UInt8(ascii: "_"), .urlSafe): 63
        default: nil
        }
    }
}
