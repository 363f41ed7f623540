import MartletCore

extension Connection {
    /// Removes the first rows of one owner in a table whose primary key begins with the owner. Where they end is looked
    /// up first: SQLite would go through all of an owner's rows for a list of those that are to go.
    /// - Parameters:
    ///   - key: The column of the primary key after the owner's.
    ///   - limit: At least 1.
    /// - Returns: How many went: a few more than the limit where rows share the last key.
    func removePortion(
        of table: String, _ owner: String, _ id: Int64, by key: String, limit: Int
    ) throws(StorageError) -> Int {
        try run(Self.portion(of: table, owner, by: key), id, limit - 1)
        return changes
    }

    /// A blob, where there are fewer rows than that, is behind every number and text.
    static func portion(of table: String, _ owner: String, by key: String) -> String {
        """
        DELETE FROM \(table) WHERE \(owner) = ?1 AND \(key) <= ifnull(
            (SELECT \(key) FROM \(table) WHERE \(owner) = ?1 ORDER BY \(key) LIMIT 1 OFFSET ?2), x'')
        """
    }
}
