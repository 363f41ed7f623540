import MartletCore
import MartletModel

/// Reads all data that is moved from a schema, in the open transaction of a connection.
final class PostgresMoveReader {
    let connection: BulkConnection
    let schema: String
    let rules: MoveRules
    private let coding: HubCoding
    let catalog: MovedQuery.Catalog
    private(set) var platformNumbers: [String: Int32] = [:]
    /// The delivery whose anchor was read last, with the keys of its handles by their hashes.
    private var handleKeys: (delivery: MovedValue, keys: [[UInt8]: [UInt8]])?

    init(
        _ connection: BulkConnection, schema: String, sealer: any Sealer, rules: MoveRules
    ) throws(DatabaseFailure) {
        self.connection = connection
        self.schema = schema
        self.rules = rules
        coding = HubCoding(sealer: sealer)
        let rows = try connection.run(Self.columns) { $0.add(schema) }
        var catalog: MovedQuery.Catalog = [:]
        for index in 0..<rows.count {
            let type = ColumnType(rawValue: rows[index].integer32(2))
            catalog[rows[index].text(0), default: []].append((rows[index].text(1), type))
        }
        self.catalog = catalog
        try readPlatforms()
    }

    func readPlatforms() throws(DatabaseFailure) {
        let rows = try connection.run(.rare([], "SELECT name, number FROM platforms"))
        for index in 0..<rows.count { platformNumbers[rows[index].text(0)] = rows[index].integer32(1) }
    }

    private static let columns = Statement.rare(
        [.text],
        """
        SELECT c.relname::text, a.attname::text, a.atttypid::int4 FROM pg_attribute a
            JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE s.nspname = $1 AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum
        """)

    // MARK: Rows

    func readRows(
        of table: MovedTable, isForComparison: Bool, joining filter: (table: String, condition: String)? = nil,
        _ each: MoveSource.RowReceiver
    ) throws(StorageError) {
        let query = try MovedQuery(table, catalog, isForComparison: isForComparison, joining: filter)
        let refine = refinement(of: table)
        try connection.copy(query.sql) { bytes throws(StorageError) in
            var row = try CopiedForm.row(bytes, query.forms)
            guard let refine else { return try each(row) }
            if try refine(&row) { try each(row) }
        }
    }

    /// Counts the rows of a table (`RetiringMoveSource.count(of:)`).
    func count(of table: MovedTable) throws(StorageError) -> Int64? {
        guard let query = MovedQuery.count(of: table) else { return nil }
        return try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run(.rare([], query))[0].integer(0)
        }
    }

    /// Converts a row from the form in the schema to the form that is moved.
    /// - Returns: Whether the row is moved.
    private typealias Refinement = (inout [MovedValue]) throws(StorageError) -> Bool

    private func refinement(of table: MovedTable) -> Refinement? {
        func changing(_ column: String, _ change: @escaping ([UInt8]) throws(StorageError) -> [UInt8]) -> Refinement {
            let index = table.index(of: column) ?? 0
            return { row throws(StorageError) in
                if let bytes = row[index].bytes { row[index] = .bytes(try change(bytes)) }
                return true
            }
        }
        func sorting(_ column: String) -> Refinement {
            let index = table.index(of: column) ?? 0
            return { row throws(StorageError) in
                row[index] = .list(row[index].list.sorted { $0.lexicographicallyPrecedes($1) })
                return true
            }
        }
        return switch table.name {
        case "users": sorting("roles")
        case "installations": sorting("dead_slots")
        case "templates":
            changing("content") { bytes throws(StorageError) in
                MovedContent.encode(try ContentCoding.template(bytes))
            }
        case "variables":
            changing("content") { bytes throws(StorageError) in
                MovedContent.encode(try ContentCoding.variables(bytes))
            }
        case "registrations", "registration_history": checkingTags(table)
        case "ranges":
            changing("summary") { bytes throws(StorageError) in
                var range = RangeRecord.empty
                guard RangeTable.decode(bytes, into: &range) else { throw StorageError.unreadable("page") }
                return MovedContent.encode(range)
            }
        case "page_records":
            changing("records") { bytes throws(StorageError) in
                guard let records = PageRecords(bytes) else { throw StorageError.unreadable("page") }
                return records.renumbered()
            }
        case "progress":
            { row throws(StorageError) in
                guard let place = row[3].integer, let bytes = row[4].bytes else { return false }
                row[4] = .bytes(DeliveredBitmap(index: place, bytes: bytes).shortest.bytes)
                return true
            }
        case "channels":
            { [self] row throws(StorageError) in
                guard try findKey(&row) else {
                    throw StorageError(
                        .corrupt,
                        "The handle of a registration is not the one by which its channel is found. Nothing was "
                            + "completed.")
                }
                return true
            }
        case "former_channels": { [self] row throws(StorageError) in try findKey(&row) }
        case "collapses": { [self] row throws(StorageError) in try findHandle(&row) }
        default: nil
        }
    }

    /// Returns the refinement that refuses a row with a number of a tag that does not exist. The copy would lose that
    /// tag, and the comparison would not show it.
    private func checkingTags(_ table: MovedTable) -> Refinement {
        let (tags, numbers) = (table.index(of: "tags") ?? 0, table.index(of: "tag_numbers") ?? 0)
        return { row throws(StorageError) in
            let text = row[tags].bytes ?? []
            let names = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            guard names.allSatisfy({ !$0.isEmpty }) || (text.isEmpty && row[numbers].numbers.isEmpty) else {
                throw StorageError(
                    .corrupt,
                    "A row of '\(table.name)' has a tag that does not exist, and cannot be moved. Restore a backup. Nothing "
                        + "was completed.")
            }
            return true
        }
    }

    /// Replaces the hash of a channel's key with the key itself, which is computed from the channel's handle.
    /// - Returns: False if the hash belongs to another key.
    private func findKey(_ row: inout [MovedValue]) throws(StorageError) -> Bool {
        guard let platform = row[2].text, let hash = row[3].bytes, let stored = row[4].bytes else { return false }
        let handle = stored.withUnsafeBytes { StoredForm.handle($0) }
        for key in [rules.key(PlatformID(rawValue: platform), handle), handle] {
            guard let key, try self.hash(of: key, on: platform) == hash else { continue }
            row[3] = .bytes(StoredForm.handle(key))
            return true
        }
        return false
    }

    /// Returns the hash of a handle's key. A channel is found by this hash.
    func hash(of key: String, on platform: String) throws(StorageError) -> [UInt8] {
        guard let number = platformNumbers[platform] else {
            throw StorageError(.corrupt, "A row names the platform '\(platform)', which the database does not know.")
        }
        return Array(rules.hash(HandleKey(platform: number, key: key).bytes).prefix(16))
    }

    /// Replaces the hash in a handle's anchor with the handle's key, which is stored with the notification.
    private func findHandle(_ row: inout [MovedValue]) throws(StorageError) -> Bool {
        let collapse = row.removeLast()
        guard let anchor = row[5].bytes, anchor.first == UInt8(ascii: "="), let platform = row[3].text else {
            return true
        }
        if handleKeys?.delivery != row[1] {
            var keys: [[UInt8]: [UInt8]] = [:]
            for key in try collapse.bytes.map({ bytes throws(StorageError) in try Collapse(stored: bytes) })?.handleKeys
                ?? []
            {
                keys[try hash(of: key, on: platform)] = Array(key.utf8)
            }
            handleKeys = (row[1], keys)
        }
        guard let key = handleKeys?.keys[Array(anchor.dropFirst())] else {
            throw StorageError.unreadable("collapse key")
        }
        row[5] = .bytes([UInt8(ascii: "=")] + key)
        return true
    }

    // MARK: Hubs

    func directory() throws(StorageError) -> MovedDirectory {
        let (rows, namespace) = try MoveSession.attempt { () throws(DatabaseFailure) in
            (
                try connection.run(HubStatements.list),
                try connection.run(.rare([], "SELECT rules, backend_hub FROM namespace"))
            )
        }
        var hubs: [Hub] = []
        for index in 0..<rows.count {
            let id = Hub.ID(rawValue: rows[index].integer(0))
            hubs.append(
                Hub(
                    id: id, name: rows[index].text(1),
                    settings: try coding.settings(rows[index].bytes(2), context: HubStatements.context(id)),
                    createdAt: rows[index].timestamp(3), modifiedAt: rows[index].timestamp(4)))
        }
        let rules = try namespace[0].optionalBytes(0).map { bytes throws(StorageError) in
            try coding.rules(bytes, context: HubStatements.namespaceContext)
        }
        let backend = namespace[0].optionalInteger(1).map { Hub.ID(rawValue: $0) }
        return MovedDirectory(
            hubs: hubs, rules: rules ?? [], backendHub: hubs.first { $0.id == backend }?.id,
            platforms: platformNumbers.keys.sorted().map { PlatformID(rawValue: $0) })
    }

    // MARK: Numbers

    func numbers() throws(StorageError) -> MovedNumbers {
        do throws(DatabaseFailure) {
            var numbers = MovedNumbers()
            let last = try connection.run(Self.lastNumbers)[0]
            (numbers.hubs, numbers.operatorActions, numbers.payloadAudit) = (
                last.integer(0), last.integer(1), last.integer(2)
            )
            let kinds: [MovedNumber] = [
                .channels, .registrations, .changes, .forgotten, .installations, .tags, .contents, .notifications,
                .deliveries, .campaigns, .jobs,
            ]
            let rows = try connection.run(Self.hubNumbers)
            for index in 0..<rows.count {
                for (column, kind) in kinds.enumerated() {
                    numbers.ofHub[rows[index].integer(0), default: [:]][kind] = rows[index].integer(Int32(column) + 1)
                }
            }
            return numbers
        } catch {
            throw error.storageError
        }
    }

    private static func lastValue(_ table: String, _ column: String) -> String {
        "coalesce(pg_sequence_last_value(pg_get_serial_sequence('\(table)', '\(column)')::regclass), 0)"
    }

    private static let lastNumbers = Statement.rare(
        [],
        """
        SELECT \(lastValue("hubs", "id")), \(lastValue("operator_actions", "id")), \(lastValue("payload_audit", "number"))
        """)
    private static let hubNumbers = Statement.rare(
        [],
        """
        SELECT h.id, o.channels, o.registrations, o.changes, o.history_start, o.installations, o.tags, o.contents,
            s.notifications, s.deliveries, coalesce(c.last, 0),
            coalesce((SELECT max(j.sequence) FROM jobs j WHERE j.shard = o.shard), 0)
        FROM hubs h JOIN ordinals o ON o.shard = h.id JOIN send_ordinals s ON s.shard = h.id
            LEFT JOIN campaign_numbers c ON c.shard = h.id
        WHERE NOT h.is_deleted
        """)

    // MARK: Blobs

    func readBlobs(
        _ each: (MovedBlob, MoveSource.PieceReader) throws(StorageError) -> Void
    ) throws(StorageError) {
        for row in try rows(.rare([], "SELECT space, name FROM containers ORDER BY space, name")) {
            let blob = MovedBlob(
                .container, isOfPayloads: row.integer32(0) == BlobSpace.payloads.rawValue, container: row.text(1))
            try each(blob) { _ in }
        }
        var last: (space: Int32, container: String, name: [UInt8]) = (-1, "", [])
        while true {
            let page = try rows(Self.blobs) {
                $0.add(last.space)
                $0.add(last.container)
                $0.add(last.name)
            }
            for row in page {
                last = (row.integer32(0), row.text(1), row.bytes(2))
                let blob = MovedBlob(
                    .blob, isOfPayloads: last.space == BlobSpace.payloads.rawValue, container: last.container,
                    name: row.text(2), size: row.integer(4), modifiedAt: row.timestamp(5))
                try read(blob, row.integer(3), each)
            }
            if page.isEmpty { break }
        }
        for row in try rows(Self.uploads) {
            try read(MovedBlob(.upload, name: row.text(1), size: row.integer(2)), row.integer(0), each)
        }
    }

    private func read(
        _ blob: MovedBlob, _ content: Int64, _ each: (MovedBlob, MoveSource.PieceReader) throws(StorageError) -> Void
    ) throws(StorageError) {
        try each(blob) { take throws(StorageError) in
            let query = "SELECT data FROM blob_chunks WHERE content = \(content) ORDER BY start"
            try connection.copy(query) { bytes throws(StorageError) in
                if let piece = try CopiedForm.row(bytes, [.bytes])[0].bytes { try take(piece) }
            }
        }
    }

    private func rows(
        _ statement: Statement, _ fill: (inout Parameters) -> Void = { _ in }
    ) throws(StorageError) -> [Row] {
        do throws(DatabaseFailure) {
            let rows = try connection.run(statement, fill)
            return (0..<rows.count).map { rows[$0] }
        } catch {
            throw error.storageError
        }
    }

    private static let blobs = Statement.rare(
        [.int4, .text, .bytes],
        """
        SELECT space, container, name, content, size, modified_at FROM blobs
        WHERE (space, container, name) > ($1, $2, $3) ORDER BY space, container, name LIMIT 500
        """)
    private static let uploads = Statement.rare(
        [],
        """
        SELECT c.id, c.key, coalesce((SELECT sum(length(k.data)) FROM blob_chunks k WHERE k.content = c.id), 0)::int8
        FROM blob_contents c WHERE c.key IS NOT NULL AND c.removable_at > 0 ORDER BY c.id
        """)
}

extension RangeRecord {
    /// A range without values, into which the encoded values of a range can be decoded.
    static var empty: RangeRecord {
        RangeRecord(
            last: .none, snapshot: .none, startedAt: Timestamp(milliseconds: 0), endedAt: Timestamp(milliseconds: 0))
    }
}
