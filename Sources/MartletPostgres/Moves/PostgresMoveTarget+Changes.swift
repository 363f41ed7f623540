public import MartletCore
import MartletModel

/// Changes of the rows that were copied from a snapshot.
///
/// The rows to remove and to add are copied into a temporary table for each moved table, so that each table's changes
/// are two statements, which find the rows by the primary key.
extension PostgresMoveTarget: OnlineMoveTarget {
    /// The changes of the rows of one moved table.
    struct Changes {
        let moved: MovedTable
        /// The name of the table in the schema.
        let table: String
        /// The columns of the table's primary key.
        let key: [String]
        /// Whether rows of other tables refer to the rows, and are removed with them.
        let isReferenced: Bool
        let columns: [String]

        /// The temporary table with the changes: the columns of the table, and `is_new`.
        var staging: String { "staged_\(moved.name)" }

        func condition(_ left: String, _ right: String) -> String {
            key.map { "\(left).\($0) = \(right).\($0)" }.joined(separator: " AND ")
        }

        /// The condition for staged rows that are removed for good. A row to which others refer is changed in its
        /// place.
        var removal: String {
            let replaced = "EXISTS (SELECT 1 FROM \(staging) n WHERE n.is_new AND \(condition("n", "s")))"
            return isReferenced ? "NOT s.is_new AND NOT \(replaced)" : "NOT s.is_new"
        }

        /// What an added row does whose key is in the table.
        var onConflict: String {
            if moved.name == "tags" { return "ON CONFLICT (\(key.joined(separator: ", "))) DO NOTHING" }
            guard isReferenced else { return "" }
            let changes = columns.filter { !key.contains($0) }.map { "\($0) = excluded.\($0)" }
            return "ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(changes.joined(separator: ", "))"
        }
    }

    public func beginChanges(_ directory: MovedDirectory, _ numbers: MovedNumbers) throws(StorageError) {
        try MoveSession.attempt { () throws(DatabaseFailure) in
            for table in ["campaign_numbers", "send_ordinals", "ordinals", "hubs"] {
                try connection.run("DELETE FROM \(table)")
            }
            let rows = try connection.run(Self.keys) { $0.add(schema) }
            for index in 0..<rows.count { keys[rows[index].text(0), default: []].append(rows[index].text(1)) }
            let parents = try connection.run(Self.parents) { $0.add(schema) }
            for index in 0..<parents.count { referenced.insert(parents[index].text(0)) }
        }
        tags.advance(to: numbers.ofHub.mapValues { $0[.tags] ?? 0 })
        try write(directory, numbers)
        try MoveSession.attempt { () throws(DatabaseFailure) in try connection.run(Self.removeTags) }
    }

    /// Removes the tags of hubs that have been deleted since the snapshot. Tags of other hubs stay (`readChangedTags`).
    private static let removeTags = Statement.rare(
        [], "DELETE FROM tags t WHERE NOT EXISTS (SELECT 1 FROM hubs h WHERE h.id = t.shard)")

    private static let keys = Statement.rare(
        [.text],
        """
        SELECT c.relname::text, a.attname::text FROM pg_index i
            JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace s ON s.oid = c.relnamespace
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey)
        WHERE s.nspname = $1 AND i.indisprimary ORDER BY c.relname, a.attnum
        """)
    private static let parents = Statement.rare(
        [.text],
        """
        SELECT DISTINCT c.relname::text FROM pg_constraint k
            JOIN pg_class c ON c.oid = k.confrelid JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE s.nspname = $1 AND k.contype = 'f'
        """)

    // MARK: Rows

    public func beginChanges(of table: MovedTable) throws(StorageError) {
        let name = Self.tables[table.name] ?? table.name
        guard let key = keys[name], let columns = reader.catalog[name]?.map(\.name) else {
            throw StorageError(.corrupt, "The table '\(name)' has no primary key, so its changes cannot be moved.")
        }
        let changes = Changes(
            moved: table, table: name, key: key, isReferenced: referenced.contains(name), columns: columns)
        (self.changes, isStaging) = (changes, false)
        insertion = try MovedInsertion(table, into: name, reader.catalog, derived: derivations(of: table))
    }

    public func remove(_ row: [MovedValue]) throws(StorageError) { try stage(row, isNew: false) }

    func stage(_ row: [MovedValue], isNew: Bool) throws(StorageError) {
        guard let changes else { return }
        if !isStaging {
            isStaging = true
            try MoveSession.attempt { () throws(DatabaseFailure) in
                try connection.run(
                    """
                    CREATE TEMPORARY TABLE \(changes.staging) (LIKE \(changes.table), is_new bool NOT NULL)
                        ON COMMIT DROP
                    """)
                try connection.beginCopy(
                    into: "\(changes.staging) (\((changes.columns + ["is_new"]).joined(separator: ", ")))")
            }
        }
        try insertion?.append(row, isNew: isNew, to: &buffer)
        if buffer.count >= Self.bufferSize { try flush() }
    }

    public func endChangesOfTable() throws(StorageError) {
        guard let changes else { return }
        self.changes = nil
        insertion = nil
        guard isStaging else { return }
        try flush()
        try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.endCopy()
            try connection.run("ANALYZE \(changes.staging)")
        }
        staged.append(changes)
        if changes.moved.name == "tags" { try readChangedTags(changes) }
    }

    /// Reads which tags have got another number in the source than the one that they have here, and the names of those
    /// that the source does not list any more. The latter stay here, because former states of registrations name them.
    private func readChangedTags(_ changes: Changes) throws(StorageError) {
        try MoveSession.attempt { () throws(DatabaseFailure) in
            let renumbered = try connection.run(
                .rare(
                    [],
                    """
                    SELECT s.shard, s.id & \(UInt32.max), t.id & \(UInt32.max) FROM \(changes.staging) s
                        JOIN tags t ON \(changes.condition("t", "s"))
                    WHERE s.is_new AND t.id <> s.id
                    """))
            for index in 0..<renumbered.count {
                let row = renumbered[index]
                tags.replace(row.integer(1), by: row.integer(2), in: Int64(row.integer32(0)))
            }
            let former = try connection.run(
                .rare(
                    [],
                    "SELECT shard, scope, name, id & \(UInt32.max) FROM \(changes.staging) WHERE NOT is_new"))
            for index in 0..<former.count {
                let row = former[index]
                let tag = MovedTagNumbers.Tag(
                    hub: Int64(row.integer32(0)), scope: row.integer32(1), name: row.text(2))
                tags.keep(tag, row.integer(3))
            }
        }
    }

    public func applyChanges() throws(StorageError) {
        // Rows that refer to others come after them, so removals go backwards.
        for changes in staged.reversed() where changes.moved.name != "tags" {
            let (wanted, done) = try MoveSession.attempt { () throws(DatabaseFailure) in
                let row = try connection.run(
                    .rare(
                        [],
                        """
                        WITH gone AS (
                            DELETE FROM \(changes.table) x USING \(changes.staging) s
                            WHERE \(changes.removal) AND \(changes.condition("x", "s")) RETURNING 1)
                        SELECT (SELECT count(*) FROM \(changes.staging) s WHERE \(changes.removal)),
                            (SELECT count(*) FROM gone)
                        """))[0]
                return (row.integer(0), row.integer(1))
            }
            guard wanted == done else {
                throw StorageError(
                    .corrupt,
                    "The copy of '\(changes.moved.name)' differs: of \(wanted) rows that are gone, it has \(done). Nothing "
                        + "was completed; the source is as it was.")
            }
        }
        try MoveSession.attempt { () throws(DatabaseFailure) in
            for changes in staged {
                let columns = changes.columns.joined(separator: ", ")
                try connection.run(
                    """
                    INSERT INTO \(changes.table) (\(columns)) OVERRIDING SYSTEM VALUE
                    SELECT \(columns) FROM \(changes.staging) WHERE is_new \(changes.onConflict)
                    """)
            }
        }
    }

    public func readAdded(to table: MovedTable, _ each: RowReceiver) throws(StorageError) {
        guard let changes = staged.first(where: { $0.moved == table }) else { return }
        let added = "(SELECT * FROM \(changes.staging) WHERE is_new) added"
        try reader.readRows(
            of: table, isForComparison: true, joining: (added, changes.condition("x", "added")), each)
    }

    public func endChanges() throws(StorageError) {
        try addFormerTags()
        try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run("DELETE FROM backlogs")
            try derive()
        }
    }

    // MARK: Blobs

    public func remove(_ blob: MovedBlob) throws(StorageError) {
        let space = (blob.isOfPayloads ? BlobSpace.payloads : .jobs).rawValue
        try MoveSession.attempt { () throws(DatabaseFailure) in
            switch blob.kind {
            case .container:
                try connection.run(Self.removeContainer) {
                    $0.add(space)
                    $0.add(blob.container)
                }
            case .blob:
                try connection.run(Self.removeBlob) {
                    $0.add(space)
                    $0.add(blob.container)
                    $0.add(blob.name)
                }
            case .upload: try connection.run(Self.removeUpload) { $0.add(blob.name) }
            }
        }
    }

    /// A container with blobs in it stays.
    private static let removeContainer = Statement.rare(
        [.int4, .text],
        """
        DELETE FROM containers c WHERE space = $1 AND name = $2
            AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.space = c.space AND b.container = c.name)
        """)
    private static let removeBlob = Statement.rare(
        [.int4, .text, .bytes],
        """
        WITH gone AS (DELETE FROM blobs WHERE space = $1 AND container = $2 AND name = $3 RETURNING content)
        DELETE FROM blob_contents WHERE id IN (SELECT content FROM gone)
        """)
    private static let removeUpload = Statement.rare([.text], "DELETE FROM blob_contents WHERE key = $1")
}
