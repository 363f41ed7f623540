extension TagExpression {
    /// The limits of an expression. The defaults are the limits of Azure Notification Hubs (NotificationHubs.md,
    /// section 10.3).
    public struct Limits: Hashable, Sendable {
        /// The maximum number of tags if the only operator is `||`.
        public var tagsInUnion: Int
        /// The maximum number of tags if the expression contains `&&` or `!`.
        public var tagsInMixed: Int
        /// The maximum nesting depth of parentheses and negations.
        public var depth: Int
        /// The maximum length of the text, in bytes.
        public var length: Int

        public init(tagsInUnion: Int = 20, tagsInMixed: Int = 6, depth: Int = 32, length: Int = 8192) {
            self.tagsInUnion = tagsInUnion
            self.tagsInMixed = tagsInMixed
            self.depth = depth
            self.length = length
        }
    }

    /// Parses an expression (NotificationHubs.md, section 10.2). `!` binds more tightly than `&&`, and `&&` more
    /// tightly than `||`.
    /// - Throws: `TagExpressionError` with the offset of the error.
    public init(_ text: String, limits: Limits = Limits()) throws(TagExpressionError) {
        guard text.utf8.count <= limits.length else {
            throw TagExpressionError(offset: limits.length, problem: .tooLong(limits.length))
        }
        var parser = TagExpressionParser(text, depthLimit: limits.depth)
        self = try parser.parse()
        let limit = parser.isUnion ? limits.tagsInUnion : limits.tagsInMixed
        guard tagCount <= limit else {
            throw TagExpressionError(offset: 0, problem: .tooManyTags(limit))
        }
    }
}

/// The reason why a text is not a valid tag expression, and the offset of the error.
public struct TagExpressionError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Problem: Hashable, Sendable {
        case expectedTag
        case expectedOperator
        case unclosedParenthesis
        case badTag(TagError)
        case tooDeep(Int)
        case tooLong(Int)
        case tooManyTags(Int)
    }

    /// The offset of the error in bytes, from 0.
    public let offset: Int
    public let problem: Problem

    public var description: String {
        let index = "at character \(offset + 1)"
        return switch problem {
        case .expectedTag: "The tag expression needs a tag, '!' or '(' \(index)."
        case .expectedOperator: "The tag expression needs '&&', '||' or its end \(index)."
        case .unclosedParenthesis: "The tag expression needs a ')' \(index)."
        case .badTag(let error): "The tag expression has no valid tag \(index): \(error)"
        case .tooDeep(let limit): "The tag expression is nested deeper than \(limit) levels \(index)."
        case .tooLong(let limit): "The tag expression is longer than \(limit) characters."
        case .tooManyTags(let limit): "The tag expression has more tags than the \(limit) that its operators allow."
        }
    }
}

/// A recursive-descent parser. The depth is checked before each recursion.
private struct TagExpressionParser {
    private let bytes: [UInt8]
    private var index = 0
    private var depthLeft: Int
    private let depthLimit: Int
    private(set) var isUnion = true

    init(_ text: String, depthLimit: Int) {
        bytes = Array(text.utf8)
        depthLeft = depthLimit
        self.depthLimit = depthLimit
    }

    mutating func parse() throws(TagExpressionError) -> TagExpression {
        let expression = try union()
        guard index == bytes.count else { throw error(.expectedOperator) }
        return expression
    }

    private mutating func union() throws(TagExpressionError) -> TagExpression {
        var operands = [try intersection()]
        while skip("||") { operands.append(try intersection()) }
        // Parentheses around operands of the same operator have no effect, so `a || (b || c)` becomes `a || b || c`.
        let flat = operands.flatMap { operand in
            if case .or(let inner) = operand { inner } else { [operand] }
        }
        return flat.count == 1 ? flat[0] : .or(flat)
    }

    private mutating func intersection() throws(TagExpressionError) -> TagExpression {
        var operands = [try operand()]
        while skip("&&") {
            isUnion = false
            operands.append(try operand())
        }
        let flat = operands.flatMap { operand in
            if case .and(let inner) = operand { inner } else { [operand] }
        }
        return flat.count == 1 ? flat[0] : .and(flat)
    }

    private mutating func operand() throws(TagExpressionError) -> TagExpression {
        let start = index
        let isNegation = skip("!")
        guard isNegation || skip("(") else { return .tag(try tag()) }
        guard depthLeft > 0 else { throw TagExpressionError(offset: start, problem: .tooDeep(depthLimit)) }
        depthLeft -= 1
        defer { depthLeft += 1 }
        if isNegation {
            isUnion = false
            return .not(try operand())
        }
        let expression = try union()
        guard skip(")") else { throw error(index == bytes.count ? .unclosedParenthesis : .expectedOperator) }
        return expression
    }

    private mutating func tag() throws(TagExpressionError) -> Tag {
        skipSpace()
        let start = index
        while index < bytes.count, isTagByte(bytes[index], isSystem: bytes[start] == UInt8(ascii: "$")) { index += 1 }
        guard index > start else { throw error(.expectedTag) }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        let end = index
        do throws(TagError) {
            let tag = try Tag(text)
            skipSpace()
            return tag
        } catch {
            index = end
            throw TagExpressionError(offset: start, problem: .badTag(error))
        }
    }

    /// Returns true if a byte is part of a tag. A system tag extends to its closing brace. `Tag` checks the text
    /// between the braces.
    private func isTagByte(_ byte: UInt8, isSystem: Bool) -> Bool {
        if Tag.isAllowed(byte) { return true }
        return isSystem && byte > 0x20 && byte != 0x7F && !"()&|!,".utf8.contains(byte)
    }

    private mutating func skip(_ token: StaticString) -> Bool {
        skipSpace()
        let count = token.utf8CodeUnitCount
        guard index + count <= bytes.count,
            bytes[index..<index + count].elementsEqual(UnsafeBufferPointer(start: token.utf8Start, count: count))
        else { return false }
        index += count
        skipSpace()
        return true
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    private func error(_ problem: TagExpressionError.Problem) -> TagExpressionError {
        TagExpressionError(offset: index, problem: problem)
    }
}
