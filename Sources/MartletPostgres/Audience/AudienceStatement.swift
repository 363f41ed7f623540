import MartletCore
import MartletModel

/// The statement that reads members of an audience. It returns one row: each column has the values of all members, such
/// as their numbers or handles, one after another. One row for each member would cost four times as much.
///
/// The statement has three forms. *Dense* reads the registrations in the order of the fan-out and leaves out those that
/// do not match; it is fastest if many match. *Sparse* first finds the members of a tag in the index; it is fastest for
/// the devices of one user. *Listed* looks up members one by one, for retries. PostgreSQL's planner cannot choose
/// between dense and sparse, because it makes one plan for all tags. Therefore `AudienceReader` chooses.
struct AudienceStatement {
    enum Form: Hashable {
        case dense
        case sparse(AudienceAnchor)
        case listedChannels
        case listedMembers
    }

    let statement: Statement
    /// The tags whose numbers are the last parameters, in this order.
    let tags: [Tag]

    /// The types of the parameters that come before the parameters of the form and of the tags.
    private static let fixedTypes: [ParameterType] = [.int4, .int4, .int8, .int8, .int8, .int8, .int8, .int8]

    /// The maximum number of members of a tag that the sparse form reads.
    static let sparseLimit: Int64 = 20_000

    init(_ expression: TagExpression?, _ form: Form, withHandles: Bool) {
        var types = Self.fixedTypes
        switch form {
        case .dense: break
        case .sparse, .listedChannels: types.append(.int8s)
        case .listedMembers: types += [.int8s, .int8s]
        }
        var tags: [Tag] = []
        let condition = expression.map { Self.condition($0, types.count, &tags) } ?? "true"
        types += tags.map { _ in .int8 }
        self.tags = tags
        let handles =
            withHandles ? "string_agg(int4send(length(p.handle)), ''), string_agg(p.handle, '')" : "NULL, NULL"
        statement = .hot(
            types,
            """
            \(Self.members(form, matching: condition))
            SELECT (SELECT o.changes FROM ordinals o WHERE o.shard = $1),
                (SELECT o.registrations FROM ordinals o WHERE o.shard = $1),
                \(form.isSparse ? "(SELECT count(*) FROM found)" : "0::int8"),
                string_agg(int8send(p.channel), ''), string_agg(int8send(p.sequence), ''),
                string_agg(int8send(coalesce(p.template, 0)), ''), string_agg(int8send(coalesce(p.variables, 0)), ''),
                \(handles)
            FROM page p
            """)
    }

    private static let columns = """
        r.channel, r.sequence, r.handle, r.template, r.variables, r.tags, r.expires_at
        """

    private static func members(_ form: Form, matching condition: String) -> String {
        let within = """
            (f.expires_at IS NULL OR f.expires_at > $7) AND f.channel <= $5 AND f.sequence <= $6 AND \(condition)
            """
        let page = """
            page AS MATERIALIZED (
                SELECT f.channel, f.sequence, f.handle, f.template, f.variables FROM found f
                WHERE (f.channel, f.sequence) > ($3, $4) AND \(within)
                ORDER BY f.channel, f.sequence LIMIT $8
            )
            """
        switch form {
        case .dense:
            // The inner query has the order of the primary key. OFFSET 0 keeps the planner from searching by tag first.
            return """
                WITH page AS MATERIALIZED (
                    SELECT f.channel, f.sequence, f.handle, f.template, f.variables FROM (
                        SELECT \(columns) FROM registrations r WHERE r.shard = $1 AND r.scope = $2
                            AND (r.channel, r.sequence) > ($3, $4)
                        ORDER BY r.channel, r.sequence OFFSET 0
                    ) f WHERE \(within) ORDER BY f.channel, f.sequence LIMIT $8
                )
                """
        case .sparse(let anchor):
            // The LIMIT is not in the query that searches the index. With a LIMIT there, the planner would read the
            // table row by row until it has found enough members.
            return """
                WITH anchored AS MATERIALIZED (
                    SELECT \(columns) FROM registrations r
                    WHERE r.shard = $1 AND r.scope = $2 AND r.tags \(anchor.comparison) $9
                ), found AS MATERIALIZED (
                    SELECT * FROM anchored LIMIT \(sparseLimit + 1)
                ), \(page)
                """
        case .listedChannels:
            return """
                WITH found AS MATERIALIZED (
                    SELECT \(columns) FROM unnest($9) a (channel) JOIN registrations r
                        ON r.shard = $1 AND r.scope = $2 AND r.channel = a.channel
                ), \(page)
                """
        case .listedMembers:
            return """
                WITH found AS MATERIALIZED (
                    SELECT \(columns) FROM unnest($9, $10) a (channel, sequence) JOIN registrations r ON r.shard = $1
                        AND r.scope = $2 AND r.channel = a.channel AND r.sequence = a.sequence
                ), \(page)
                """
        }
    }

    /// Returns the SQL condition that the tags of `f` match an expression, with one parameter for each tag. Adds these
    /// tags to `tags`.
    private static func condition(_ expression: TagExpression, _ count: Int, _ tags: inout [Tag]) -> String {
        switch expression {
        case .tag(let tag):
            tags.append(tag)
            return "$\(count + tags.count) = ANY(f.tags)"
        case .not(let operand): return "NOT (\(condition(operand, count, &tags)))"
        case .and(let operands), .or(let operands):
            let isAnd = if case .and = expression { true } else { false }
            var texts: [String] = []
            for operand in operands { texts.append(condition(operand, count, &tags)) }
            guard !texts.isEmpty else { return isAnd ? "true" : "false" }
            return "(\(texts.joined(separator: isAnd ? " AND " : " OR ")))"
        }
    }
}

extension AudienceStatement.Form {
    fileprivate var isSparse: Bool { if case .sparse = self { true } else { false } }
}

/// How a list of tags finds the registrations that match a tag expression: each of these registrations has all tags of
/// the list, or at least one of them.
enum AudienceAnchor: Hashable {
    case all
    case any

    /// Returns the tags by which the index finds the registrations that match an expression; nil if there are no such
    /// tags, as for `!a`.
    static func tags(of expression: TagExpression?) -> (AudienceAnchor, [Tag])? {
        guard let expression else { return nil }
        let required = required(by: expression)
        if !required.isEmpty { return (.all, required) }
        return expression.anchors.map { (.any, Array($0)) }
    }

    var comparison: String {
        switch self {
        case .all: "@>"
        case .any: "&&"
        }
    }

    private static func required(by expression: TagExpression) -> [Tag] {
        switch expression {
        case .tag(let tag): [tag]
        case .not(.not(let inner)): required(by: inner)
        case .and(let operands): operands.flatMap { required(by: $0) }
        case .not, .or: []
        }
    }
}
