public import MartletModel

/// The decision whether a tag expression matches a registration, with the tags that determined the decision. As long as
/// these tags do not change, no other tag of the expression matters.
public struct ExpressionDecision: Hashable, Sendable {
    /// A tag that the registration had or lacked.
    public struct Term: Hashable, Sendable {
        public var tag: Tag
        public var isPresent: Bool

        public init(_ tag: Tag, isPresent: Bool) {
            self.tag = tag
            self.isPresent = isPresent
        }
    }

    public var matches: Bool
    /// The deciding tags, without duplicates, in the order of the expression; empty if the send was for all
    /// registrations.
    public var terms: [Term]

    init(matches: Bool, terms: [Term]) {
        self.matches = matches
        self.terms = terms
    }

    /// Decides whether an expression matches a registration with some tags.
    /// - Parameter expression: The tag expression; nil matches every registration.
    public init(of expression: TagExpression?, on tags: Set<Tag>) {
        guard let expression else {
            self.init(matches: true, terms: [])
            return
        }
        self = expression.decision(on: tags)
        var seen: Set<Tag> = []
        terms = terms.filter { seen.insert($0.tag).inserted }
    }
}

extension TagExpression {
    fileprivate func decision(on tags: Set<Tag>) -> ExpressionDecision {
        switch self {
        case .tag(let tag):
            let isPresent = tags.contains(tag)
            return ExpressionDecision(matches: isPresent, terms: [.init(tag, isPresent: isPresent)])
        case .not(let operand):
            let decision = operand.decision(on: tags)
            return ExpressionDecision(matches: !decision.matches, terms: decision.terms)
        case .and(let operands): return Self.decision(of: operands, on: tags, decisive: false)
        case .or(let operands): return Self.decision(of: operands, on: tags, decisive: true)
        }
    }

    /// Returns the decision of a compound expression. If some operands have the value `decisive`, that value is the
    /// result, and one of these operands decides alone: the one with the fewest terms. Otherwise all operands decide
    /// together.
    private static func decision(
        of operands: [TagExpression], on tags: Set<Tag>, decisive: Bool
    ) -> ExpressionDecision {
        let decisions = operands.map { $0.decision(on: tags) }
        if let one = decisions.filter({ $0.matches == decisive }).min(by: { $0.terms.count < $1.terms.count }) {
            return one
        }
        return ExpressionDecision(matches: !decisive, terms: decisions.flatMap(\.terms))
    }
}
