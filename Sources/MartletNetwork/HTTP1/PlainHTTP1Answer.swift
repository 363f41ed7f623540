/// A whole answer with status 200 in the form in which push services answer, read in one pass. `HTTP1Client` reads all
/// other answers with `HeadScanner` and `HTTP1Parser`, and would read this one with the same result.
struct PlainHTTP1Answer {
    /// A field that the caller asks about.
    struct Field {
        /// In lower case.
        let name: [UInt8]
        /// In lower case.
        let value: [UInt8]
    }

    let body: UnsafeRawBufferPointer
    /// Whether the answer has the field that was asked about once, with this value in upper or lower case.
    let hasField: Bool

    /// The maximum length of a head, which is below the limits of the other way.
    private static let headLimit = 4096
    private static let fieldLimit = 50

    /// Reads an answer; nil if the bytes are anything else than one whole answer of this form.
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

    /// Returns the position of the CRLF that ends a line; nil if a byte before it is not allowed in a value.
    private static func lineEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var index = start
        while index < bytes.count, FieldRules.isValueByte(bytes[index]) { index += 1 }
        return index + 1 < bytes.count && bytes[index] == carriageReturn && bytes[index + 1] == lineFeed ? index : nil
    }

    private enum Meaning {
        case length
        /// The field decides what becomes of the connection, or where the answer ends.
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

    /// Returns whether a text equals another one that is in lower case.
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
