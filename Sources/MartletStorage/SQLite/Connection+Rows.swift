import MartletCore

extension Connection {
    /// Inserts rows into a table. Each execution of a statement inserts many rows. Executing a statement for each row
    /// would take about twice as long, because each execution opens the table, its indexes and the tables to which it
    /// refers, and reads the counter of AUTOINCREMENT.
    /// - Parameters:
    ///   - insertion: The statement up to `VALUES`, such as `INSERT INTO tags (hub, name)`.
    ///   - columns: The number of values in a row.
    ///   - bind: Binds the values of a row to the parameters of the statement, beginning at an index.
    func insert<Row>(
        _ insertion: String, columns: Int, _ rows: [Row],
        bind: (Row, Statement, Int32) throws(StorageError) -> Void
    ) throws(StorageError) {
        let row = "(\(Array(repeating: "?", count: columns).joined(separator: ", ")))"
        var rest = rows[...]
        for count in Self.rowsOfAStatement where rest.count >= count {
            let statement = try take(
                "\(insertion) VALUES \(Array(repeating: row, count: count).joined(separator: ", "))")
            defer { giveBack(statement) }
            while rest.count >= count {
                for (index, row) in rest.prefix(count).enumerated() {
                    try bind(row, statement, Int32(index * columns + 1))
                }
                _ = try statement.step()
                statement.reset()
                rest.removeFirst(count)
            }
        }
    }

    /// The numbers of rows that one statement can insert, in descending order. The last number is 1, so that any number
    /// of rows can be inserted.
    private static let rowsOfAStatement = [64, 8, 1]
}
