/// Which answers to the requests of a batch are told as plain successes, by their number alone: nothing in them says more.
public enum PlainSuccess: Hashable, Sendable {
    /// A 200 without a body.
    case empty
    /// A 200 whose body is a JSON object of one member: a text of visible ASCII in which nothing is escaped.
    case json(member: String)
    /// None: every answer is told in full.
    case none

    /// - Parameter body: All of it.
    public func covers(_ status: HTTPStatus, _ body: UnsafeRawBufferPointer) -> Bool {
        guard status == .ok else { return false }
        switch self {
        case .empty: return body.isEmpty
        case .none: return false
        case .json(let member):
            var body = JSONScanner(body)
            return body.takes("{") && body.takes(quoted: member) && body.takes(":") && body.takesQuotedText()
                && body.takes("}") && body.isAtEnd
        }
    }
}

/// Reads JSON of one expected form.
private struct JSONScanner {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Whether nothing is left but white space.
    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return index == bytes.count
        }
    }

    mutating func takes(_ sign: Unicode.Scalar) -> Bool {
        skipSpace()
        return takesNow(sign)
    }

    mutating func takes(quoted text: String) -> Bool {
        guard takes("\"") else { return false }
        for byte in text.utf8 {
            guard index < bytes.count, bytes[index] == byte else { return false }
            index += 1
        }
        return takesNow("\"")
    }

    /// Takes a text that needs no reading, and is not empty.
    mutating func takesQuotedText() -> Bool {
        guard takes("\"") else { return false }
        let start = index
        while index < bytes.count, (0x20...0x7E).contains(bytes[index]), bytes[index] != UInt8(ascii: "\""),
            bytes[index] != UInt8(ascii: "\\")
        { index += 1 }
        return index > start && takesNow("\"")
    }

    private mutating func takesNow(_ sign: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: sign) else { return false }
        index += 1
        return true
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D: true
        default: false
        }
    }

    private mutating func skipSpace() {
        while index < bytes.count, Self.isSpace(bytes[index]) { index += 1 }
    }
}
