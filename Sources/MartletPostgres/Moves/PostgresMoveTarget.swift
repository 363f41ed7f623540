public import MartletCore
import MartletModel

/// An empty database on PostgreSQL to which data is moved.
///
/// The whole move is one transaction, including the creation of the schema, so that nobody sees a part of it. If this
/// process ends before `complete`, the database is as empty as it was before.
public final class PostgresMoveTarget: MoveTarget {
    let connection: BulkConnection
    let reader: PostgresMoveReader
    private let sealer: any Sealer
    private let rules: MoveRules
    let schema: String
    private let address: DatabaseAddress
    private var lastNumbers = MovedNumbers()
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

    // MARK: Hubs

    public func begin(_ directory: MovedDirectory, _ numbers: MovedNumbers) throws(StorageError) {
        tags = MovedTagNumbers(last: numbers.ofHub.mapValues { $0[.tags] ?? 0 })
        try write(directory, numbers)
        try MoveSession.attempt { () throws(DatabaseFailure) in try dropIndexes() }
    }

    /// Writes the hubs, with the last numbers of each.
    func write(_ directory: MovedDirectory, _ numbers: MovedNumbers) throws(StorageError) {
        lastNumbers = numbers
        let coding = HubCoding(sealer: sealer)
        for hub in directory.hubs {
            guard hub.id.rawValue < Int64(Shard.limit) else {
                throw StorageError(
                    .unavailable, "A hub has a number above a million, for which PostgreSQL has no room.")
            }
            try checkRoom(for: numbers.ofHub[hub.id.rawValue] ?? [:], of: hub)
            let settings = try coding.encode(hub.settings, context: HubStatements.context(hub.id))
            try MoveSession.attempt { () throws(DatabaseFailure) in
                try insert(hub, settings, numbers.ofHub[hub.id.rawValue] ?? [:])
            }
        }
        let namespace =
            directory.rules.isEmpty
            ? nil : try coding.encode(directory.rules, context: HubStatements.namespaceContext)
        try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run(Self.setNamespace) {
                $0.add(namespace)
                $0.add(directory.backendHub?.rawValue)
            }
            for platform in directory.platforms {
                try connection.run(Self.addPlatform) { $0.add(platform.rawValue) }
            }
            try reader.readPlatforms()
        }
    }

    /// Throws an error if a hub has used more than half of the numbers that PostgreSQL has for it. The other half is left
    /// for what the hub will get after the move.
    private func checkRoom(for numbers: [MovedNumber: Int64], of hub: Hub) throws(StorageError) {
        let limits: [(MovedNumber, Int64)] = [
            (.tags, Int64(UInt32.max) / 2), (.notifications, Shard.numberMask / 2),
            (.deliveries, Shard.numberMask / 2),
        ]
        for (kind, limit) in limits where numbers[kind, default: 0] > limit {
            throw StorageError(
                .unavailable,
                "The \(kind.rawValue) of the hub '\(hub.name)' have numbers up to \(numbers[kind, default: 0]), and a "
                    + "move to PostgreSQL takes at most \(limit), half of its room for a hub. Nothing was moved.")
        }
    }

    private func insert(
        _ hub: Hub, _ settings: [UInt8], _ numbers: [MovedNumber: Int64]
    ) throws(DatabaseFailure) {
        try connection.run(Self.addHub) {
            $0.add(hub.id.rawValue)
            $0.add(hub.name)
            $0.add(hub.name.lowercased())
            $0.add(settings)
            $0.add(hub.createdAt)
            $0.add(hub.modifiedAt)
        }
        let shard = Shard(hub.id).number
        try connection.run(Self.addOrdinals) {
            $0.add(shard)
            for kind in [
                MovedNumber.channels, .registrations, .changes, .forgotten, .installations, .contents,
            ] { $0.add(numbers[kind] ?? 0) }
        }
        try connection.run(Self.addSendOrdinals) {
            $0.add(shard)
            $0.add(numbers[.notifications] ?? 0)
            $0.add(numbers[.deliveries] ?? 0)
        }
        if let campaigns = numbers[.campaigns], campaigns > 0 {
            try connection.run(Self.addCampaignNumbers) {
                $0.add(shard)
                $0.add(campaigns)
            }
        }
    }

    private static let addHub = Statement.rare(
        [.int8, .bytes, .bytes, .bytes, .int8, .int8],
        """
        INSERT INTO hubs (id, name, folded_name, settings, created_at, modified_at) OVERRIDING SYSTEM VALUE
        VALUES ($1, $2, $3, $4, $5, $6)
        """)
    private static let addOrdinals = Statement.rare(
        [.int4, .int8, .int8, .int8, .int8, .int8, .int8],
        """
        INSERT INTO ordinals (shard, channels, registrations, changes, history_start, installations, contents)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """)
    private static let addSendOrdinals = Statement.rare(
        [.int4, .int8, .int8], "INSERT INTO send_ordinals (shard, notifications, deliveries) VALUES ($1, $2, $3)")
    private static let addCampaignNumbers = Statement.rare(
        [.int4, .int8], "INSERT INTO campaign_numbers (shard, last) VALUES ($1, $2)")
    private static let setNamespace = Statement.rare(
        [.bytes, .int8],
        """
        UPDATE namespace SET rules = $1, backend_hub = $2, directory_version = directory_version + 1, moved_to = NULL
        """)
    private static let addPlatform = Statement.rare(
        [.text], "INSERT INTO platforms (name) VALUES ($1) ON CONFLICT (name) DO NOTHING")

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

    /// Returns the functions that compute the columns that the rows of a moved table do not have in the form of the
    /// schema, by column name.
    func derivations(of table: MovedTable) -> [String: MovedInsertion.Derivation] {
        func bytes(_ column: String, of row: [MovedValue]) -> [UInt8] {
            table.index(of: column).flatMap { row[$0].bytes } ?? []
        }
        func platform(of row: [MovedValue]) throws(StorageError) -> Int32 {
            let name = String(decoding: bytes("platform", of: row), as: UTF8.self)
            guard let number = reader.platformNumbers[name] else {
                throw StorageError(.corrupt, "A row names the platform '\(name)', which no device has.")
            }
            return number
        }
        func scope(of row: [MovedValue]) throws(StorageError) -> Int32 {
            let isTemplate =
                table.index(of: "is_template").map { row[$0] == .integer(1) }
                ?? (table.index(of: "template").map { row[$0] != .null } ?? false)
            return Scope(platform: try platform(of: row), isTemplate ? .template : .native).number
        }
        let hash: MovedInsertion.Derivation = { [self] row throws(StorageError) in
            let key = bytes("key", of: row).withUnsafeBytes { StoredForm.handle($0) }
            return .bytes(
                try reader.hash(of: key, on: String(decoding: bytes("platform", of: row), as: UTF8.self)))
        }
        let platformNumber: MovedInsertion.Derivation = { row throws(StorageError) in
            .integer(Int64(try platform(of: row)))
        }
        let tagNumbers: MovedInsertion.Derivation = { [self] row throws(StorageError) in
            let known = table.index(of: "tag_numbers").map { row[$0].numbers } ?? []
            return .numbers(
                tags.numbers(
                    of: bytes("tags", of: row), known, in: row[0].integer ?? 0, scope: try scope(of: row)))
        }
        let spelledTags: MovedInsertion.Derivation = { row throws(StorageError) in
            let text = bytes("tags", of: row)
            return text.contains { (0x41...0x5A).contains($0) } ? .bytes(text) : .null
        }
        switch table.name {
        case "tags":
            return [
                "scope": { row throws(StorageError) in .integer(Int64(try scope(of: row))) },
                "id": { [self] row throws(StorageError) in
                    let hub = row[0].integer ?? 0
                    return .integer(MovedTagNumbers.composed(hub, tags.shifted(row[4].integer ?? 0, in: hub)))
                },
            ]
        case "channels": return ["hash": hash, "platform": platformNumber]
        case "former_channels": return ["hash": hash]
        case "registrations":
            return [
                "scope": { row throws(StorageError) in .integer(Int64(try scope(of: row))) }, "tags": tagNumbers,
                "spelled_tags": spelledTags,
            ]
        case "registration_history":
            return ["platform": platformNumber, "tags": tagNumbers, "spelled_tags": spelledTags]
        case "templates", "variables":
            let isTemplate = table.name == "templates"
            let content: (([MovedValue]) throws(StorageError) -> [UInt8]) = { row throws(StorageError) in
                let moved = bytes("content", of: row)
                return isTemplate
                    ? ContentCoding.encode(try MovedContent.template(moved))
                    : ContentCoding.encode(try MovedContent.variables(moved))
            }
            return [
                "content": { row throws(StorageError) in .bytes(try content(row)) },
                "hash": { [self] row throws(StorageError) in .bytes(rules.hash(try content(row))) },
            ]
        case "ranges":
            return [
                "summary": { row throws(StorageError) in
                    var range = RangeRecord.empty
                    try MovedContent.read(bytes("summary", of: row), into: &range)
                    return .bytes(RangeTable.encode(range))
                }
            ]
        case "collapses":
            return [
                "anchor": { [self] row throws(StorageError) in
                    let anchor = bytes("anchor", of: row)
                    guard anchor.first == UInt8(ascii: "=") else { return .bytes(anchor) }
                    let key = String(decoding: anchor.dropFirst(), as: UTF8.self)
                    let platform = String(decoding: bytes("platform", of: row), as: UTF8.self)
                    return .bytes(CollapseAnchor.handle(try reader.hash(of: key, on: platform)))
                }
            ]
        default: return [:]
        }
    }

    // MARK: Blobs

    public func add(_ blob: MovedBlob, _ content: PieceReader) throws(StorageError) {
        let space = (blob.isOfPayloads ? BlobSpace.payloads : .jobs).rawValue
        if blob.kind == .container {
            return try MoveSession.attempt { () throws(DatabaseFailure) in
                try connection.run(ContainerStatements.create) {
                    $0.add(space)
                    $0.add(blob.container)
                }
            }
        }
        let id = try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run(Self.addContent) { $0.add(blob.kind == .upload ? blob.name : nil) }[0].integer(0)
        }
        var rest: [UInt8] = []
        var start: Int64 = 0
        func put(_ chunk: [UInt8]) throws(StorageError) {
            try MoveSession.attempt { () throws(DatabaseFailure) in
                try connection.run(ContainerStatements.putChunk) {
                    $0.add(id)
                    $0.add(start)
                    $0.add(chunk)
                }
            }
            start += Int64(chunk.count)
        }
        try content { piece throws(StorageError) in
            rest += piece
            while rest.count >= PostgresUpload.chunkSize {
                try put(Array(rest.prefix(PostgresUpload.chunkSize)))
                rest.removeFirst(PostgresUpload.chunkSize)
            }
        }
        if !rest.isEmpty { try put(rest) }
        guard blob.kind == .blob else { return }
        try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run(Self.addBlob) {
                $0.add(space)
                $0.add(blob.container)
                $0.add(blob.name)
                $0.add(id)
                $0.add(start)
                $0.add(blob.modifiedAt)
            }
        }
    }

    /// Adds a content. With a key, it is the content of an upload that a job has not finished, and is kept for a week.
    private static let addContent = Statement.rare(
        [.text],
        """
        INSERT INTO blob_contents (key, removable_at) SELECT $1, CASE WHEN $1 IS NOT NULL THEN
            (extract(epoch FROM clock_timestamp() + interval '7 days') * 1000)::int8 END
        RETURNING id
        """)
    private static let addBlob = Statement.rare(
        [.int4, .text, .bytes, .int8, .int8, .int8],
        """
        INSERT INTO blobs (space, container, name, content, size, modified_at) VALUES ($1, $2, $3, $4, $5, $6)
        """)

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
                "The connection to \(address) broke in the last step, so it is not known whether the move is complete. Look "
                    + "whether the hubs are there (martlet check --database says whether there is a schema) before you serve "
                    + "either.")
        }
    }
}
