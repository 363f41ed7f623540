import MartletCore

extension Connection {
    /// Removes the first rows of one owner from a table. The primary key of the table must begin with a column that
    /// names the owner of a row, such as the row's notification.
    ///
    /// The statement finds the key of the last row to remove, and then removes all rows up to this key. A statement
    /// that removed a list of rows would make SQLite read all rows of the owner.
    /// - Parameters:
    ///   - owner: The name of the column that names the owner.
    ///   - id: The owner whose rows are removed.
    ///   - key: The column of the primary key after the owner's column.
    ///   - limit: The number of rows to remove; must be at least 1.
    /// - Returns: The number of removed rows. It can be greater than the limit if several rows have the last key.
    func removePortion(
        of table: String, _ owner: String, _ id: Int64, by key: String, limit: Int
    ) throws(StorageError) -> Int {
        try run(Self.portion(of: table, owner, by: key), id, limit - 1)
        return changes
    }

    /// Returns the SQL statement that removes a portion. If there are fewer rows than the limit, it removes all of
    /// them: the upper bound of the key is then an empty blob, because blobs sort after all numbers and texts.
    static func portion(of table: String, _ owner: String, by key: String) -> String {
        """
        DELETE FROM \(table) WHERE \(owner) = ?1 AND \(key) <= ifnull(
            (SELECT \(key) FROM \(table) WHERE \(owner) = ?1 ORDER BY \(key) LIMIT 1 OFFSET ?2), x'')
        """
    }
}
