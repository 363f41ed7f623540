extension TagExpression {
    /// The tags by which to look up matching registrations: every matching registration has at least one of these tags.
    ///
    /// For `a && b`, the anchors of one operand suffice. The operand with the fewest anchors is used. If several
    /// operands have equally few, the one with the longest tags is used, because long tags usually select few
    /// registrations. Nil if the expression gives no such tags, as for `!a`.
    public var anchors: Set<Tag>? {
        switch self {
        case .tag(let tag): return [tag]
        case .not: return nil
        case .and(let operands):
            return operands.compactMap(\.anchors).min { Self.rank($0) < Self.rank($1) }
        case .or(let operands):
            var all: Set<Tag> = []
            for operand in operands {
                guard let anchors = operand.anchors else { return nil }
                all.formUnion(anchors)
            }
            return all
        }
    }

    private static func rank(_ tags: Set<Tag>) -> (Int, Int) {
        (tags.count, -tags.reduce(0) { $0 + $1.folded.utf8.count })
    }
}
