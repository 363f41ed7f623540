import MartletCore

extension Connection {
    /// Removes the first rows of one owner from a table whose primary key begins with the owner.
    ///
    /// Looks up the key of the last row to remove first, because SQLite would read all rows of the owner to find a list
    /// of rows to remove.
    /// - Parameters:
    ///   - key: The column of the primary key after the owner's column.
    ///   - limit: The number of rows to remove, at least 1.
    /// - Returns: The number of removed rows. It can be slightly more than the limit if rows share the last key.
    func removePortion(
        of table: String, _ owner: String, _ id: Int64, by key: String, limit: Int
    ) throws(StorageError) -> Int {
        try run(Self.portion(of: table, owner, by: key), id, limit - 1)
        return changes
    }

    /// Returns the SQL statement that removes a portion. If there are fewer rows than the limit, an empty blob is the
    /// upper bound of the key, because blobs sort after all numbers and texts.
    static func portion(of table: String, _ owner: String, by key: String) -> String {
        """
        DELETE FROM \(table) WHERE \(owner) = ?1 AND \(key) <= ifnull(
            (SELECT \(key) FROM \(table) WHERE \(owner) = ?1 ORDER BY \(key) LIMIT 1 OFFSET ?2), x'')
        """
    }
}
