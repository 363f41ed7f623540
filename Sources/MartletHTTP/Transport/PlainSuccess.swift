/// The kind of responses to a batch that are plain successes. A plain success is reported by the index of its item
/// only, because it contains no other useful information.
public enum PlainSuccess: Hashable, Sendable {
    /// A 200 without a body.
    case empty
    /// A 200 whose body is a JSON object with one member: a non-empty string of printable ASCII without escapes.
    case json(member: String)
    /// A 200 whose body is a JSON object with one member: a string of printable ASCII without escapes. The string
    /// equals the percent-decoded path of the item, without the shared prefix and without `pathSuffix`. The path must
    /// be made by `PercentEncoding`. A response with another string is reported in full, because that string may be the
    /// device's new handle.
    case jsonOfPath(member: String, pathSuffix: String)
    /// A 200 in which the field `name` occurs once and has the given value. The body does not matter.
    /// - Parameter value: The value in lower case; the case of the received value is ignored.
    case field(name: String, value: String)
    /// No response is a plain success: every response is reported in full.
    case none

    /// Returns whether a response is a plain success of this kind; nil if this also depends on the item or on a header
    /// field.
    public func covers(_ status: HTTPStatus, _ body: UnsafeRawBufferPointer) -> Bool? {
        guard status == .ok else { return false }
        switch self {
        case .empty: return body.isEmpty
        case .none: return false
        case .json(let member):
            var body = JSONScanner(body)
            return body.takes("{") && body.takes(quoted: member) && body.takes(":") && body.takesQuotedText()
                && body.takes("}") && body.isAtEnd
        case .jsonOfPath, .field: return nil
        }
    }

    /// Returns true if a response is a plain success of this kind.
    /// - Parameters:
    ///   - body: The complete body.
    ///   - fields: Returns the values of a field, given its name in lower case.
    ///   - item: The item of the batch that the response answers.
    public func covers(
        _ status: HTTPStatus, _ body: UnsafeRawBufferPointer, fields: (String) -> [String] = { _ in [] },
        of item: Int, in batch: RequestBatch
    ) -> Bool {
        if let isCovered = covers(status, body) { return isCovered }
        switch self {
        case .empty, .none, .json: return false
        case .jsonOfPath(let member, let suffix):
            var body = JSONScanner(body)
            guard body.takes("{"), body.takes(quoted: member), body.takes(":") else { return false }
            let isOfPath = batch.withPath(item) { path in
                let id = UnsafeBufferPointer(rebasing: path.dropLast(suffix.utf8.count))
                return body.takesQuoted(percentEncoded: UnsafeRawBufferPointer(id))
            }
            return isOfPath && body.takes("}") && body.isAtEnd
        case .field(let name, let value):
            let values = fields(name)
            return values.count == 1 && values[0].lowercased() == value
        }
    }
}

/// Parses only the forms of JSON that a `PlainSuccess` may have. The scanner builds no tree, because it runs for every
/// push.
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

    /// Consumes a quoted string that equals a percent-encoded text after decoding. Refuses an empty text, and
    /// characters that JSON would have to escape.
    mutating func takesQuoted(percentEncoded text: UnsafeRawBufferPointer) -> Bool {
        guard takes("\""), !text.isEmpty else { return false }
        var read = 0
        while read < text.count {
            if read + 8 <= text.count, index + 8 <= bytes.count {
                let eight = text.loadUnaligned(fromByteOffset: read, as: UInt64.self)
                if eight == bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self), !Self.hasPercent(eight) {
                    read += 8
                    index += 8
                    continue
                }
            }
            var byte = text[read]
            read += 1
            if byte == UInt8(ascii: "%") {
                guard read + 1 < text.count, let plain = PercentEncoding.byte(text[read], text[read + 1]),
                    (0x20...0x7E).contains(plain), plain != UInt8(ascii: "\""), plain != UInt8(ascii: "\\")
                else { return false }
                byte = plain
                read += 2
            }
            guard index < bytes.count, bytes[index] == byte else { return false }
            index += 1
        }
        return takesNow("\"")
    }

    private static func hasPercent(_ eight: UInt64) -> Bool {
        let zeros = eight ^ 0x2525_2525_2525_2525
        return (zeros &- 0x0101_0101_0101_0101) & ~zeros & 0x8080_8080_8080_8080 != 0
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
