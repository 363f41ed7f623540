import MartletCore

/// A column in which secrets are stored encrypted ("sealed"). The table of the column must have row ids.
struct SealedColumn: Sendable {
    let table: String
    let column: String
    /// The context with which a secret is sealed, as an SQL expression over its row.
    let context: String

    /// A secret with the id of its row.
    struct Row: Sendable {
        let id: Int64
        var sealed: [UInt8]
        let context: String
    }

    /// Returns rows after a row id, in the order of their ids, whose secrets do not begin with `mark`. `mark` names the
    /// current key, so the returned secrets were sealed with other keys.
    func rows(
        after id: Int64, notMarked mark: [UInt8], limit: Int, on connection: Connection
    ) throws(StorageError) -> [Row] {
        try connection.all(
            """
            SELECT rowid, \(column), \(context) FROM \(table)
            WHERE rowid > ? AND substr(\(column), 1, ?) <> ? ORDER BY rowid LIMIT ?
            """, id, mark.count, mark, limit
        ) { row in
            Row(id: row.integer(0), sealed: row.bytes(1), context: row.text(2))
        }
    }

    func count(notMarked mark: [UInt8], on connection: Connection) throws(StorageError) -> Int64 {
        try connection.first(
            "SELECT count(*) FROM \(table) WHERE substr(\(column), 1, ?) <> ?", mark.count, mark
        ) { $0.integer(0) } ?? 0
    }

    /// Replaces a secret with a newly sealed one, unless the secret has changed meanwhile.
    func replace(_ old: Row, with sealed: [UInt8], on connection: Connection) throws(StorageError) {
        try connection.run(
            "UPDATE \(table) SET \(column) = ? WHERE rowid = ? AND \(column) = ?", sealed, old.id, old.sealed)
    }
}
