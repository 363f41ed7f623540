import MartletCore

extension Connection {
    /// Inserts rows into a table, many with each execution of a statement. Executing a statement for each row would
    /// take about twice as long, because each execution opens the table with its indexes and the tables that it refers
    /// to, and reads the counter of AUTOINCREMENT.
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

    /// The numbers of rows for which there is a statement, from the greatest to one.
    private static let rowsOfAStatement = [64, 8, 1]
}
