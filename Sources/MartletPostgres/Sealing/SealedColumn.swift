import MartletCore

/// A column of secrets. Its rows are visited in the order in which they lie in their table, a number of blocks at a time,
/// so that a page costs the same wherever it is.
struct SealedColumn: Sendable {
    let table: String
    let column: String
    /// The context with which a secret is sealed, as an SQL expression over its row: bytes.
    let context: String

    /// The number of blocks of a page.
    static let pageBlocks = 64

    static let all = [
        SealedColumn(table: "jobs", column: "sealed_addresses", context: "'jobs/' || shard || '/' || \(text("id"))"),
        SealedColumn(
            table: "operator_factors", column: "sealed_secret", context: "'operator_factors/' || \(text("operator"))"),
        SealedColumn(table: "namespace", column: "sealed_check", context: "'\(KeyCheck.context)'"),
        SealedColumn(table: "payload_texts", column: "sealed", context: "'payload_texts/' || payload"),
    ]

    private static func text(_ column: String) -> String { "convert_from(\(column), 'UTF8')" }

    /// The number of blocks of the table.
    var size: Statement { .rare([], "SELECT pg_relation_size('\(table)') / current_setting('block_size')::int8") }

    /// The secrets within bounds that do not begin with the mark of a key.
    var page: Statement {
        .rare(
            [.text, .text, .int4, .bytes],
            """
            SELECT ctid::text, \(column), \(context) FROM \(table)
            WHERE ctid >= $1::tid AND ctid < $2::tid AND substr(\(column), 1, $3) <> $4
            """)
    }

    var count: Statement {
        .rare([.int4, .bytes], "SELECT count(*) FROM \(table) WHERE substr(\(column), 1, $1) <> $2")
    }

    /// Replaces a secret, unless it has changed meanwhile.
    var replace: Statement {
        .rare(
            [.text, .bytes, .bytes], "UPDATE \(table) SET \(column) = $3 WHERE ctid = $1::tid AND \(column) = $2")
    }
}
