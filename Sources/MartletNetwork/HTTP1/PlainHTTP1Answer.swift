/// A complete answer with status 200 in the form that push services send, read in one pass.
///
/// `HTTP1Client` reads all other answers with `HeadScanner` and `HTTP1Parser`. These would read a plain answer with the
/// same result, but in more time.
struct PlainHTTP1Answer {
    /// A field that the caller asks about.
    struct Field {
        /// The name in lower case.
        let name: [UInt8]
        /// The value in lower case.
        let value: [UInt8]
    }

    let body: UnsafeRawBufferPointer
    /// True if the field that the caller asks about occurs exactly once and has the given value, ignoring case.
    let hasField: Bool

    /// The maximum length of a head in bytes, which is below the limits of `ClientLimits`.
    private static let headLimit = 4096
    private static let fieldLimit = 50

    /// Reads an answer; nil unless the bytes are exactly one complete answer of this form.
    init?(_ bytes: UnsafeRawBufferPointer, asking field: Field?) {
        guard bytes.starts(with: "HTTP/1.1 200 ".utf8), let statusEnd = Self.lineEnd(bytes, from: 13) else {
            return nil
        }
        var index = statusEnd + 2
        var length: Int?
        var (found, isEqual, fieldCount) = (0, false, 0)
        while index < bytes.count, bytes[index] != Self.carriageReturn {
            let start = index
            while index < bytes.count, FieldRules.isToken(bytes[index]) { index += 1 }
            let name = UnsafeRawBufferPointer(rebasing: bytes[start..<index])
            guard !name.isEmpty, index < bytes.count, bytes[index] == UInt8(ascii: ":"),
                let end = Self.lineEnd(bytes, from: index + 1)
            else { return nil }
            index += 1
            while index < end, Self.isBlank(bytes[index]) { index += 1 }
            let value = UnsafeRawBufferPointer(rebasing: bytes[index..<end])
            switch Self.meaning(of: name) {
            case .length:
                guard length == nil, let number = Self.number(value) else { return nil }
                length = number
            case .connection: return nil
            case .other: break
            }
            if let field, Self.equals(name, field.name) {
                found += 1
                isEqual = Self.equals(Self.withoutBlanks(value), field.value)
            }
            fieldCount += 1
            index = end + 2
        }
        guard let length, fieldCount <= Self.fieldLimit, index <= Self.headLimit, bytes.count - index - 2 == length,
            bytes[index + 1] == Self.lineFeed
        else { return nil }
        body = UnsafeRawBufferPointer(rebasing: bytes[(index + 2)...])
        hasField = found == 1 && isEqual
    }

    private static let carriageReturn: UInt8 = 0x0D
    private static let lineFeed: UInt8 = 0x0A

    /// Returns the position of the CRLF that ends a line; nil if there is none, or if a byte before it is not allowed
    /// in a value.
    private static func lineEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var index = start
        while index < bytes.count, FieldRules.isValueByte(bytes[index]) { index += 1 }
        return index + 1 < bytes.count && bytes[index] == carriageReturn && bytes[index + 1] == lineFeed ? index : nil
    }

    private enum Meaning {
        case length
        /// The field has a meaning for the connection or for the framing of the answer, such as `transfer-encoding`.
        case connection
        case other
    }

    private static func meaning(of name: UnsafeRawBufferPointer) -> Meaning {
        switch name.count {
        case 7: equals(name, "upgrade".utf8) ? .connection : .other
        case 10: equals(name, "connection".utf8) ? .connection : .other
        case 14: equals(name, "content-length".utf8) ? .length : .other
        case 16: equals(name, "proxy-connection".utf8) ? .connection : .other
        case 17: equals(name, "transfer-encoding".utf8) ? .connection : .other
        default: .other
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func withoutBlanks(_ value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var end = value.count
        while end > 0, isBlank(value[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: value[..<end])
    }

    /// Returns true if a text equals `lower`, which must be in lower case. The case of ASCII letters in the text is
    /// ignored.
    private static func equals(_ text: UnsafeRawBufferPointer, _ lower: some Collection<UInt8>) -> Bool {
        text.count == lower.count
            && zip(text, lower).allSatisfy { byte, other in
                ((0x41...0x5A).contains(byte) ? byte | 0x20 : byte) == other
            }
    }

    /// Reads a length of at most six digits without blanks.
    private static func number(_ digits: UnsafeRawBufferPointer) -> Int? {
        guard (1...6).contains(digits.count) else { return nil }
        var number = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            number = number * 10 + Int(digit) - 0x30
        }
        return number
    }
}
