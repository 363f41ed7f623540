import MartletCore

/// A column in which secrets are stored encrypted ("sealed"). Rows are read in the order in which they lie on disk, a
/// number of disk blocks at a time. So each page costs the same, wherever it is in the table.
struct SealedColumn: Sendable {
    let table: String
    let column: String
    /// The context with which a secret is sealed, as an SQL expression over its row.
    let context: String

    /// The number of disk blocks in a page.
    static let pageBlocks = 64

    static let all = [
        SealedColumn(table: "jobs", column: "sealed_addresses", context: "'jobs/' || shard || '/' || \(text("id"))"),
        SealedColumn(
            table: "operator_factors", column: "sealed_secret", context: "'operator_factors/' || \(text("operator"))"),
        SealedColumn(
            table: "clusters", column: "sealed_address", context: "'\(ClusterStatements.context)' || number"),
        SealedColumn(table: "namespace", column: "sealed_check", context: "'\(KeyCheck.context)'"),
        SealedColumn(table: "payload_texts", column: "sealed", context: "'payload_texts/' || payload"),
    ]

    private static func text(_ column: String) -> String { "convert_from(\(column), 'UTF8')" }

    /// Returns the number of disk blocks of the table.
    var size: Statement { .rare([], "SELECT pg_relation_size('\(table)') / current_setting('block_size')::int8") }

    /// Reads those secrets between two positions in the table that are sealed with a key other than the current one.
    /// Such a secret does not begin with the mark of the current key.
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
