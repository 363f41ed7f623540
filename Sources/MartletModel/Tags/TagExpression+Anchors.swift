extension TagExpression {
    /// Tags of which every registration that is meant has at least one, and as few and as long as there are, because such
    /// tags mean the fewest; nil where a registration may be meant without any.
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
