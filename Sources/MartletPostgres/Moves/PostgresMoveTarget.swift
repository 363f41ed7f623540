public import MartletCore
import MartletModel

/// An empty database on PostgreSQL to which data is moved.
///
/// The whole move is one transaction, including the creation of the schema, so that nobody sees a part of it. If this
/// process ends before `complete`, the database is as empty as it was before.
public final class PostgresMoveTarget: MoveTarget {
    let connection: BulkConnection
    let reader: PostgresMoveReader
    let sealer: any Sealer
    let rules: MoveRules
    let schema: String
    private let address: DatabaseAddress
    var lastNumbers = MovedNumbers()
    var tags: MovedTagNumbers
    var insertion: MovedInsertion?
    var buffer: [UInt8] = []
    /// The columns of the primary key of each table. Read by `beginChanges`, like `referenced`.
    var keys: [String: [String]] = [:]
    /// The tables to which others refer.
    var referenced: Set<String> = []
    /// The table whose changes are being announced; nil if there is none.
    var changes: Changes?
    /// Whether rows of `changes` are being copied into its temporary table.
    var isStaging = false
    /// The tables whose changes have been announced.
    var staged: [Changes] = []
    public private(set) var isOutcomeUnknown = false
    /// The statements that create the dropped indexes again.
    private var indexes: [String] = []

    /// The number of bytes of encoded rows that are sent at once.
    static let bufferSize = 1 << 20

    /// Opens a database that is empty, or has no schema of this program yet.
    /// - Parameters:
    ///   - interruption: Can break the connection from another thread.
    ///   - schema: The name of the schema that contains the tables.
    /// - Throws: `StorageError` if the schema contains any data, or if a node runs.
    public init(
        _ address: DatabaseAddress, sealer: any Sealer, rules: MoveRules,
        breakable interruption: ConnectionBreak? = nil, schema: String = "martlet"
    ) throws(StorageError) {
        self.address = address
        self.sealer = sealer
        self.rules = rules
        self.schema = schema
        tags = MovedTagNumbers()
        let (connection, state) = try MoveSession.open(address, schema, breakable: interruption)
        self.connection = connection
        if let refusal = state.refusalToMove { throw refusal }
        try MoveSession.attempt { () throws(DatabaseFailure) in try connection.run("BEGIN") }
        try MoveSession.lock(connection, schema)
        if state == .none {
            try MoveSession.attempt { () throws(DatabaseFailure) in
                for statement in Migrator(migrations: Migration.all, schema: schema).creation {
                    try connection.run(statement)
                }
            }
        }
        try MoveSession.lockTables(connection)
        try MoveSession.checkNodes(connection)
        try MoveSession.checkClusters(connection)
        try MoveSession.checkKey(
            connection, sealer,
            otherwise: "Another server has used \(address), with another secret key than that of the directory. Move "
                + "into another database, or drop the schema '\(schema)' if you give up what is in it.")
        reader = try MoveSession.attempt { () throws(DatabaseFailure) in
            try PostgresMoveReader(connection, schema: schema, sealer: sealer, rules: rules)
        }
        try checkEmpty()
    }

    /// The tables that have rows even if nothing has been stored yet.
    private static let initial: Set<String> = [
        "migrations", "namespace", "nodes", "writers", "platforms", "containers",
    ]

    private func checkEmpty() throws(StorageError) {
        let tables = reader.catalog.keys.filter { !Self.initial.contains($0) }.sorted()
        // The access rules of the namespace do not count as data: the first node makes them, and the move replaces
        // them.
        let conditions =
            tables.map { ($0, "true") } + [("containers", "space <> \(BlobSpace.payloads.rawValue)")]
        let questions = conditions.map { table, condition in
            "SELECT '\(table)' WHERE EXISTS (SELECT 1 FROM \(table) WHERE \(condition))"
        }
        let found = try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run(.rare([], questions.joined(separator: " UNION ALL ")))
        }
        guard found.count == 0 else {
            throw StorageError(
                .unavailable,
                "There is data of Martlet in \(address) already. Data is moved into an empty database: make another one, or "
                    + "drop the schema '\(schema)' if you give up what is in it.")
        }
    }

    // MARK: Reading

    public func directory() throws(StorageError) -> MovedDirectory { try reader.directory() }
    public func numbers() throws(StorageError) -> MovedNumbers { try reader.numbers() }

    public func readRows(
        of table: MovedTable, isForComparison: Bool, _ each: RowReceiver
    ) throws(StorageError) {
        try reader.readRows(of: table, isForComparison: isForComparison, each)
    }

    public func readBlobs(_ each: (MovedBlob, PieceReader) throws(StorageError) -> Void) throws(StorageError) {
        try reader.readBlobs(each)
    }

    // MARK: Copying

    public func begin(_ directory: MovedDirectory, _ numbers: MovedNumbers) throws(StorageError) {
        tags = MovedTagNumbers(last: numbers.ofHub.mapValues { $0[.tags] ?? 0 })
        try write(directory, numbers)
        try MoveSession.attempt { () throws(DatabaseFailure) in try dropIndexes() }
    }

    // MARK: Indexes

    /// Drops the indexes that do not belong to a key. Building an index once from all rows takes less time than adding
    /// the rows to it one by one.
    private func dropIndexes() throws(DatabaseFailure) {
        let rows = try connection.run(Self.indexes) { $0.add(schema) }
        for index in 0..<rows.count {
            try connection.run("DROP INDEX \"\(rows[index].text(0))\"")
            indexes.append(rows[index].text(1))
        }
    }

    private static let indexes = Statement.rare(
        [.text],
        """
        SELECT c.relname::text, pg_get_indexdef(i.indexrelid) FROM pg_index i
            JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE s.nspname = $1 AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)
        ORDER BY c.relname
        """)

    // MARK: Rows

    public func beginRows(of table: MovedTable) throws(StorageError) {
        let name = Self.tables[table.name] ?? table.name
        let insertion = try MovedInsertion(table, into: name, reader.catalog, derived: derivations(of: table))
        self.insertion = insertion
        try MoveSession.attempt { () throws(DatabaseFailure) in try connection.beginCopy(into: insertion.target) }
    }

    static let tables = ["templates": "contents", "variables": "contents", "progress": "reached"]

    public func add(_ row: [MovedValue]) throws(StorageError) {
        guard changes == nil else { return try stage(row, isNew: true) }
        try insertion?.append(row, to: &buffer)
        if buffer.count >= Self.bufferSize { try flush() }
    }

    public func endRows() throws(StorageError) {
        try flush()
        try MoveSession.attempt { () throws(DatabaseFailure) in try connection.endCopy() }
        insertion = nil
    }

    func flush() throws(StorageError) {
        guard !buffer.isEmpty else { return }
        try MoveSession.attempt { () throws(DatabaseFailure) in try connection.put(buffer) }
        buffer.removeAll(keepingCapacity: true)
    }

    // MARK: Completing

    public func endCopying() throws(StorageError) {
        try addFormerTags()
        try MoveSession.attempt { () throws(DatabaseFailure) in
            for index in indexes { try connection.run(index) }
            try derive()
            for table in reader.catalog.keys.sorted() { try connection.run("ANALYZE \(table)") }
        }
    }

    /// Makes what the schema derives from other rows, but for indexes and tags.
    func derive() throws(DatabaseFailure) {
        try connection.run(Self.countBacklogs)
        try connection.run(Self.setInputTags)
        for (table, column, last) in [
            ("hubs", "id", lastNumbers.hubs), ("operator_actions", "id", lastNumbers.operatorActions),
            ("payload_audit", "number", lastNumbers.payloadAudit),
        ] where last > 0 {
            let sequence = "pg_get_serial_sequence('\(table)', '\(column)')"
            try connection.run(.rare([.int8], "SELECT setval(\(sequence), $1)")) { $0.add(last) }
        }
    }

    /// Stores tags that only former states of registrations have, and the last number of tags of each hub.
    func addFormerTags() throws(StorageError) {
        let known = tags
        tags.stored()
        try MoveSession.attempt { () throws(DatabaseFailure) in
            for (tag, number) in known.added.sorted(by: { $0.value < $1.value }) {
                try connection.run(Self.addTag) {
                    $0.add(Int32(truncatingIfNeeded: tag.hub))
                    $0.add(tag.scope)
                    $0.add(tag.name)
                    $0.add(MovedTagNumbers.composed(tag.hub, number))
                }
            }
            for (hub, last) in known.last {
                try connection.run(.rare([.int4, .int8], "UPDATE ordinals SET tags = $2 WHERE shard = $1")) {
                    $0.add(Int32(truncatingIfNeeded: hub))
                    $0.add(last)
                }
            }
        }
    }

    private static let addTag = Statement.rare(
        [.int4, .int4, .text, .int8], "INSERT INTO tags (shard, scope, name, id) VALUES ($1, $2, $3, $4)")
    private static let countBacklogs = Statement.rare(
        [],
        """
        INSERT INTO backlogs (shard, notifications, bytes)
        SELECT shard, count(*), sum(length(body)) FROM notifications WHERE finished_at IS NULL GROUP BY shard
        """)
    private static let setInputTags = Statement.rare(
        [],
        """
        UPDATE jobs j SET input_tag = convert_to('"' || b.content || '"', 'UTF8') FROM blobs b
        WHERE j.input_tag = '='::bytea AND b.space = \(BlobSpace.jobs.rawValue) AND b.name = j.input_name
            AND b.container = convert_from(j.input_container, 'UTF8')
        """)

    public var place: String { "\(address)" }

    public func checkLastStep() throws(StorageError) { try MoveSession.checkCommit(address, schema) }

    public func complete() throws(StorageError) {
        let sealed = try KeyCheck.sealed(with: sealer)
        try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run(KeyCheck.store) { $0.add(sealed) }
        }
        let isKnown = try MoveSession.attempt { () throws(DatabaseFailure) in try MoveSession.commit(connection) }
        guard isKnown else {
            isOutcomeUnknown = true
            throw StorageError(
                .unavailable,
                "\(address) did not confirm the last step, because the connection broke or a standby is missing. So it is not "
                    + "known whether the move is complete. Look whether the hubs are there (martlet check --database says "
                    + "whether there is a schema) before you serve either.")
        }
    }
}
