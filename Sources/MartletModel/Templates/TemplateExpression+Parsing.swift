extension TemplateExpression {
    /// Parses a value that begins as an expression (`isBegun(by:)` is true).
    /// - Parameter text: The complete value, with its JSON or XML escapes decoded.
    init(_ text: some Collection<UInt8>) throws(TemplateExpressionError) {
        var parser = TemplateExpressionParser(Array(text))
        self = try parser.expression()
    }
}

/// An error in an expression, worded as the end of a sentence.
struct TemplateExpressionError: Error {
    let reason: String
}

/// A single-pass parser; expressions do not nest.
private struct TemplateExpressionParser {
    private let bytes: [UInt8]
    private var index = 0
    /// The offset at which reading ends. In a composition, this is the offset of the closing brace.
    private var end: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        end = bytes.count
    }

    private var next: UInt8? { index < end ? bytes[index] : nil }

    mutating func expression() throws(TemplateExpressionError) -> TemplateExpression {
        guard next == UInt8(ascii: "{") else {
            let reference = try reference()
            guard next == nil else {
                throw error("goes on behind its parenthesis; what is to be joined stands in braces, with + between")
            }
            return TemplateExpression(terms: [.reference(reference)])
        }
        return TemplateExpression(terms: try composition())
    }

    private mutating func composition() throws(TemplateExpressionError) -> [TemplateExpression.Term] {
        guard end > 1, bytes[end - 1] == UInt8(ascii: "}") else { throw error("begins with { and must end with }") }
        index += 1
        end -= 1
        var terms: [TemplateExpression.Term] = []
        repeat {
            skipSpace()
            terms.append(try term())
            skipSpace()
        } while skip("+")
        guard next == nil else { throw error("needs a + between its parts, and nothing but parts and +") }
        return terms
    }

    private mutating func term() throws(TemplateExpressionError) -> TemplateExpression.Term {
        switch next {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return .literal(try literal())
        case UInt8(ascii: "$"), UInt8(ascii: "."), UInt8(ascii: "%"): return .reference(try reference())
        case UInt8(ascii: "#"): throw error("has a number with # inside braces, where only texts can be joined")
        default: throw error("needs $(…), .(…), %(…) or a text in quotes before, between and behind every +")
        }
    }

    /// Parses a text in single or double quotes; a quote inside the text is doubled.
    private mutating func literal() throws(TemplateExpressionError) -> [UInt8] {
        let delimiter = bytes[index]
        index += 1
        var text: [UInt8] = []
        while let byte = next {
            index += 1
            if byte == delimiter {
                guard next == delimiter else { return text }
                index += 1
            }
            text.append(byte)
        }
        throw error("has a text whose closing quote is missing; a quote inside a text is doubled")
    }

    private mutating func reference() throws(TemplateExpressionError) -> TemplateExpression.Reference {
        let sign = bytes[index]
        guard !isBody() else { throw error("asks for $body, which is not supported; name a property, as in $(title)") }
        index += 1
        guard skip("(") else {
            throw error("has no ( behind its first character; a text that begins so is written as {'…'}")
        }
        let name = try name()
        let fallback = try fallback()
        let length = try length()
        guard skip(")") else { throw error("has no ) where its property ends") }
        let form = try form(sign, length)
        return TemplateExpression.Reference(name: name, fallback: fallback, form: form)
    }

    private func form(
        _ sign: UInt8, _ length: Int?
    ) throws(TemplateExpressionError) -> TemplateExpression.Reference.Form {
        switch (sign, length) {
        case (UInt8(ascii: "."), let length?): return .clipped(length)
        case (UInt8(ascii: "."), nil): throw error("needs a length, as in .(title, 20)")
        case (UInt8(ascii: "$"), let length?): return .prefix(length)
        case (UInt8(ascii: "$"), nil): return .whole
        case (_, .some): throw error("has a length, which % and # do not take")
        default: return sign == UInt8(ascii: "%") ? .uri : .number
        }
    }

    private mutating func name() throws(TemplateExpressionError) -> String {
        skipSpace()
        let start = index
        while let byte = next, TemplateProperties.isNameByte(byte) { index += 1 }
        let name = bytes[start..<index]
        skipSpace()
        guard let next else { throw error("has no ) where its property ends") }
        guard next == UInt8(ascii: ")") || next == UInt8(ascii: ",") || next == UInt8(ascii: ":") else {
            throw error("names a property with other characters than letters, digits and _")
        }
        guard !name.isEmpty else { throw error("names no property") }
        guard name.count <= TemplateProperties.nameLimit else {
            throw error("names a property with more than \(TemplateProperties.nameLimit) characters")
        }
        return TemplateProperties.folded(name)
    }

    /// Parses a default value, `:{text}`, in which a backslash escapes the character after it.
    private mutating func fallback() throws(TemplateExpressionError) -> [UInt8] {
        guard skip(":") else { return [] }
        guard skip("{") else { throw error("has a : without a default in braces, as in $(name:{friend})") }
        var text: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "}"):
                skipSpace()
                return text
            case UInt8(ascii: "\\"):
                guard let escaped = next else { break }
                text.append(escaped)
                index += 1
            default: text.append(byte)
            }
        }
        throw error("has a default whose closing } is missing")
    }

    private mutating func length() throws(TemplateExpressionError) -> Int? {
        guard skip(",") else { return nil }
        skipSpace()
        let start = index
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard let length = Int32(String(decoding: bytes[start..<index], as: UTF8.self)) else {
            throw error("needs a whole number from 0 to \(Int32.max) behind its comma")
        }
        skipSpace()
        return Int(length)
    }

    private func isBody() -> Bool {
        let word = "$body"
        return end - index >= word.utf8.count
            && TemplateProperties.folded(bytes[index..<index + word.utf8.count]) == word
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while next?.isXMLSpace == true { index += 1 }
    }

    private func error(_ reason: String) -> TemplateExpressionError {
        TemplateExpressionError(
            reason: "has the expression \(String(decoding: bytes, as: UTF8.self).excerpt), which \(reason)")
    }
}
