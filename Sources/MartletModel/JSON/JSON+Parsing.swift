extension JSON {
    /// Parses one JSON text in UTF-8. Only white space may precede or follow its value.
    /// - Parameters:
    ///   - maximumDepth: The maximum nesting depth of arrays and objects.
    /// - Throws: `JSONError` with the offset at which parsing stopped.
    public init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(JSONError) {
        var parser = JSONParser(bytes: bytes, depth: maximumDepth)
        self = try parser.document()
    }
}

/// A strict parser of the grammar of RFC 8259: no comments, no trailing commas, no lone surrogates.
private struct JSONParser {
    let bytes: [UInt8]
    /// The number of further nesting levels that are allowed.
    var depth: Int
    var position = 0

    init(bytes: [UInt8], depth: Int) {
        self.bytes = bytes
        self.depth = depth
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func document() throws(JSONError) -> JSON {
        let value = try value()
        skipSpace()
        guard next == nil else { throw error("the text goes on behind its value") }
        return value
    }

    private mutating func value() throws(JSONError) -> JSON {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try nested { (parser) throws(JSONError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { (parser) throws(JSONError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    private mutating func nested(
        _ read: (inout JSONParser) throws(JSONError) -> JSON
    ) throws(JSONError) -> JSON {
        guard depth > 0 else { throw error("arrays and objects lie too deep in each other") }
        depth -= 1
        defer { depth += 1 }
        position += 1
        return try read(&self)
    }

    private mutating func object() throws(JSONError) -> JSON {
        var members: [String: JSON] = [:]
        skipSpace()
        if skip("}") { return .object(members) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error("a member's name in quotes is missing") }
            let name = try string()
            skipSpace()
            guard skip(":") else { throw error("a colon is missing") }
            members[name] = try value()
            skipSpace()
        } while skip(",")
        guard skip("}") else { throw error("a comma or a closing brace is missing") }
        return .object(members)
    }

    private mutating func array() throws(JSONError) -> JSON {
        var elements: [JSON] = []
        skipSpace()
        if skip("]") { return .array(elements) }
        repeat {
            elements.append(try value())
            skipSpace()
        } while skip(",")
        guard skip("]") else { throw error("a comma or a closing bracket is missing") }
        return .array(elements)
    }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        // The decoded content up to the last escape. This array stays empty for most strings, which have no escapes.
        var content: [UInt8] = []
        while true {
            let plain = skipPlainText()
            guard let byte = next else { throw error("a string does not end") }
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(utf8: content.isEmpty ? plain : (content + plain)[...]) else {
                    throw error("a string is not UTF-8")
                }
                return text
            case UInt8(ascii: "\\"):
                content += plain
                try escape(into: &content)
            default: throw error("a control character must be escaped")
            }
        }
    }

    /// Skips unescaped text in a string and returns it.
    private mutating func skipPlainText() -> ArraySlice<UInt8> {
        let start = position
        while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
        return bytes[start..<position]
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw error("a string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"): content += String(try escapedScalar()).utf8
        default: throw error("there is no such escape")
        }
    }

    /// Parses the four hexadecimal digits of one `\u` escape or, for a character beyond U+FFFF, the two escapes of a
    /// surrogate pair.
    private mutating func escapedScalar() throws(JSONError) -> Unicode.Scalar {
        let first = try codeUnit()
        guard first & 0xFC00 == 0xD800 else {
            guard let scalar = Unicode.Scalar(first) else { throw error("half of a surrogate pair") }
            return scalar
        }
        guard skip("\\"), skip("u") else { throw error("half of a surrogate pair") }
        let second = try codeUnit()
        guard second & 0xFC00 == 0xDC00,
            let scalar = Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + second & 0x3FF)
        else { throw error("half of a surrogate pair") }
        return scalar
    }

    private mutating func codeUnit() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap(Self.hexadecimal) else { throw error("four hexadecimal digits are missing") }
            value = value << 4 | digit
            position += 1
        }
        return value
    }

    private mutating func number() throws(JSONError) -> JSON {
        let start = position
        let isNegative = skip("-")
        if !skip("0") {
            guard skipDigits() else { throw error(isNegative ? "digits are missing" : "a value is missing") }
        }
        var isInteger = true
        if skip(".") {
            isInteger = false
            guard skipDigits() else { throw error("digits are missing") }
        }
        if skip("e") || skip("E") {
            isInteger = false
            _ = skip("+") || skip("-")
            guard skipDigits() else { throw error("digits are missing") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        guard let double = Double(text), double.isFinite else { throw error("a number is too large") }
        return .double(double)
    }

    private mutating func literal(_ word: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        for offset in 0..<word.utf8CodeUnitCount {
            guard next == word.utf8Start[offset] else { throw error("a value is missing") }
            position += 1
        }
        return value
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipDigits() -> Bool {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func error(_ reason: String) -> JSONError {
        JSONError(offset: position, reason: reason)
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
