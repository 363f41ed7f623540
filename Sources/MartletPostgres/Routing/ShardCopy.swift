import MartletCore

/// Makes the rows of a shard in one database equal to those in another.
///
/// The rows of a table are compared in groups, by a hash over all rows of a group. Groups that differ are copied as a
/// whole. So it does not matter what has happened to a row since the last comparison, and a comparison after which
/// nothing differs proves that the copy is right. Hashes of rows are the same on servers of all versions.
final class ShardCopy {
    private let shard: Shard
    private let from: BulkConnection
    private let to: BulkConnection
    private let tables: [Table]
    private let report: (Int64) -> Void

    struct Table {
        var name: String
        /// The names of all columns, separated by commas.
        var columns: String
        /// The columns of the primary key, separated by commas.
        var key: String

        /// The SQL expression for the group of a row.
        var group: String { "(hash_record_extended(ROW(\(key)), 0) & \(ShardCopy.groupCount - 1))::int4" }
    }

    /// What was found out about a table.
    private struct Digest {
        /// The number of rows and the hash over them, by group.
        var groups: [Int32: Group] = [:]

        struct Group: Equatable {
            var rows: Int64
            var hash: Int64
        }

        var rows: Int64 { groups.values.reduce(0) { $0 + $1.rows } }
    }

    /// The number of groups of a table; a power of two.
    private static let groupCount: Int32 = 65_536
    /// If more groups differ than this, the whole table is copied.
    private static let groupLimit = 20_000
    /// The number of bytes of rows that are sent at once.
    private static let bufferSize = 1 << 20

    /// The tables with rows of a shard, besides those with its numbers. What `writers` has is about connections to one
    /// database. Packs are made anew.
    private static let names = HubStatements.shardTables.filter {
        !["writers", "packs", "changed_channels"].contains($0)
    }

    /// - Parameter report: Called with the number of rows that were copied since the last call.
    init(
        _ shard: Shard, from: BulkConnection, to: BulkConnection, report: @escaping (Int64) -> Void
    ) throws(DatabaseFailure) {
        (self.shard, self.from, self.to, self.report) = (shard, from, to, report)
        let rows = try from.run(Self.catalog) { $0.add(Self.names) }
        tables = (0..<rows.count).map {
            Table(name: rows[$0].text(0), columns: rows[$0].text(1), key: rows[$0].text(2))
        }
        guard tables.count == Self.names.count else {
            throw .corrupt("A table of the hub is missing in its cluster; restore a backup.")
        }
    }

    /// What a round has found.
    struct Round {
        /// The tables that differed, and were copied.
        var differing: Set<String> = []
        var copied: Int64 = 0
        /// The number of rows in the tables that were equal.
        var equal: Int64 = 0
    }

    /// Compares each table, and copies what differs.
    /// - Parameter names: The tables; nil for all.
    func round(_ names: Set<String>? = nil) throws(StorageError) -> Round {
        var round = Round()
        // The copy of each table is of one moment, so that unique keys hold in it.
        try attempt { () throws(DatabaseFailure) in try from.run(Statement.beginSnapshot) }
        for table in tables where names?.contains(table.name) ?? true {
            let (source, target) = (try digest(of: table, from), try digest(of: table, to))
            let groups = Set(source.groups.keys).union(target.groups.keys)
                .filter { source.groups[$0] != target.groups[$0] }
            guard !groups.isEmpty else {
                round.equal += source.rows
                continue
            }
            round.differing.insert(table.name)
            round.copied += try copy(table, groups.count > Self.groupLimit ? nil : groups)
        }
        try attempt { () throws(DatabaseFailure) in try from.run(Statement.commit) }
        return round
    }

    private func digest(of table: Table, _ connection: BulkConnection) throws(StorageError) -> Digest {
        var digest = Digest()
        let query = """
            SELECT \(table.group), count(*), bit_xor(hash_record_extended(t, 0)) FROM \(table.name) t
            WHERE t.shard = \(shard.number) GROUP BY 1
            """
        let rows = try attempt { () throws(DatabaseFailure) in try connection.run(.rare([], query)) }
        for index in 0..<rows.count {
            digest.groups[rows[index].integer32(0)] = Digest.Group(
                rows: rows[index].integer(1), hash: rows[index].integer(2))
        }
        return digest
    }

    /// Replaces rows of the copy.
    /// - Parameter groups: The groups to replace; nil for all.
    /// - Returns: The number of rows that were copied.
    private func copy(_ table: Table, _ groups: Set<Int32>?) throws(StorageError) -> Int64 {
        var condition = "t.shard = \(shard.number)"
        if let groups {
            condition += " AND \(table.group) = ANY('{\(groups.map(String.init).joined(separator: ","))}'::int4[])"
        }
        try attempt { () throws(DatabaseFailure) in
            try to.run(Statement.begin)
            try to.run("DELETE FROM \(table.name) t WHERE \(condition)")
            try to.beginCopy(into: "\(table.name) (\(table.columns))")
        }
        let count = Int16(table.columns.split(separator: ",").count)
        var (copied, reported): (Int64, Int64) = (0, 0)
        var buffer: [UInt8] = []
        try from.copy("SELECT \(table.columns) FROM \(table.name) t WHERE \(condition)") { row throws(StorageError) in
            withUnsafeBytes(of: count.bigEndian) { buffer.append(contentsOf: $0) }
            buffer.append(contentsOf: row)
            copied += 1
            guard buffer.count >= Self.bufferSize else { return }
            try attempt { () throws(DatabaseFailure) in try to.put(buffer) }
            buffer.removeAll(keepingCapacity: true)
            report(copied - reported)
            reported = copied
        }
        try attempt { () throws(DatabaseFailure) in
            try to.put(buffer)
            try to.endCopy()
            try to.run(Statement.commit)
        }
        report(copied - reported)
        return copied
    }

    @discardableResult
    private func attempt<Value>(_ work: () throws(DatabaseFailure) -> Value) throws(StorageError) -> Value {
        try MoveSession.attempt(work)
    }

    private static let catalog = Statement.rare(
        [.texts],
        """
        SELECT c.relname::text,
            (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
                WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
            (SELECT string_agg('t.' || quote_ident(a.attname), ', ' ORDER BY k.place)
                FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY k (number, place)
                    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
                WHERE i.indrelid = c.oid AND i.indisprimary)
        FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE s.nspname = current_schema() AND c.relkind = 'r' AND c.relname::text = ANY($1) ORDER BY 1
        """)
}
