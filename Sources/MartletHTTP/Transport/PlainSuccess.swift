/// The kind of responses to a batch that are plain successes. These are reported by index only, because they contain no
/// other useful information.
public enum PlainSuccess: Hashable, Sendable {
    /// A 200 without a body.
    case empty
    /// A 200 whose body is a JSON object with one member: a non-empty string of printable ASCII without escapes.
    case json(member: String)
    /// No response is a plain success: every response is reported in full.
    case none

    /// Returns true if a response is a plain success of this kind.
    /// - Parameter body: The complete body.
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

/// Parses the only form of JSON that `PlainSuccess.json` accepts. It builds no tree, because it runs for every push.
private struct JSONScanner {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// True if only white space is left.
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

    /// Consumes a non-empty string without escapes.
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
