/// An expression that selects the registrations for a notification. It is a tree of tags joined by `&&`, `||`, `!` and
/// parentheses.
public indirect enum TagExpression: Hashable, Sendable {
    case tag(Tag)
    case not(TagExpression)
    case and([TagExpression])
    case or([TagExpression])

    /// Returns true if a registration with these tags matches.
    public func matches(_ tags: Set<Tag>) -> Bool {
        switch self {
        case .tag(let tag): tags.contains(tag)
        case .not(let operand): !operand.matches(tags)
        case .and(let operands): operands.allSatisfy { $0.matches(tags) }
        case .or(let operands): operands.contains { $0.matches(tags) }
        }
    }

    /// The number of tags in the expression, counting repetitions.
    public var tagCount: Int {
        switch self {
        case .tag: 1
        case .not(let operand): operand.tagCount
        case .and(let operands), .or(let operands): operands.reduce(0) { $0 + $1.tagCount }
        }
    }
}

extension TagExpression: CustomStringConvertible {
    /// The expression as a text that the parser accepts, with as few parentheses as possible.
    public var description: String { text(inside: 0) }

    private func text(inside level: Int) -> String {
        switch self {
        case .tag(let tag): tag.spelling
        case .not(let operand): "!" + operand.text(inside: 3)
        case .and(let operands): enclosed(operands.map { $0.text(inside: 2) }.joined(separator: " && "), level > 2)
        case .or(let operands): enclosed(operands.map { $0.text(inside: 1) }.joined(separator: " || "), level > 1)
        }
    }

    private func enclosed(_ text: String, _ isNeeded: Bool) -> String {
        isNeeded ? "(\(text))" : text
    }
}
