import Glibc
import MartletCore
import MartletModel

/// Reads all data that a move copies or compares from a data directory, on one connection.
final class SQLiteMoveReader {
    let connection: Connection
    let directory: StorageDirectory
    let rules: MoveRules
    private let sealer: any Sealer
    /// The distances that were added to the numbers of each hub when its rows were written here
    /// (`MovedNumbers.distances`). They are subtracted from the rows that are read, because a moved row has the numbers
    /// that count within its hub.
    var distances: [Int64: [MovedNumber: Int64]] = [:]
    /// The numbers with which push variables are moved if they share a row of `contents` with a template. The key is
    /// the number of the shared row.
    var variables: [Int64: Int64] = [:]
    private let maps: FileProgressMaps

    init(
        _ connection: Connection, _ directory: StorageDirectory, _ maps: FileProgressMaps, _ sealer: any Sealer,
        _ rules: MoveRules
    ) {
        self.connection = connection
        self.directory = directory
        self.maps = maps
        self.sealer = sealer
        self.rules = rules
    }

    // MARK: Hubs

    func hubs() throws(StorageError) -> MovedDirectory {
        let table = HubTable(connection, sealer)
        let hubs = try table.hubs()
        let backend = try table.backendHub()
        let platforms = try connection.all(
            """
            SELECT platform FROM channels UNION SELECT platform FROM registration_history
            UNION SELECT platform FROM former_channels UNION SELECT platform FROM deliveries ORDER BY 1
            """
        ) { PlatformID(rawValue: $0.text(0)) }
        return MovedDirectory(
            hubs: hubs, rules: try AccessRuleTable(connection, sealer).namespaceRules(),
            backendHub: hubs.first { $0.id == backend }?.id, platforms: platforms)
    }

    // MARK: Numbers

    static let sequences: [(kind: MovedNumber, table: String)] = [
        (.channels, "channels"), (.registrations, "registrations"), (.changes, "registration_history"),
        (.installations, "installations"), (.contents, "contents"), (.notifications, "notifications"),
        (.deliveries, "deliveries"), (.campaigns, "campaigns"), (.jobs, "jobs"),
    ]

    func numbers() throws(StorageError) -> MovedNumbers {
        let found = try connection.all("SELECT name, seq FROM sqlite_sequence") { ($0.text(0), $0.integer(1)) }
        let last = Dictionary(found, uniquingKeysWith: { first, _ in first })
        var numbers = MovedNumbers()
        numbers.hubs = last["hubs"] ?? 0
        numbers.operatorActions = last["operator_actions"] ?? 0
        numbers.payloadAudit = last["payload_audit"] ?? 0
        var own: [MovedNumber: Int64] = [:]
        for (kind, table) in Self.sequences { own[kind] = last[table] ?? 0 }
        own[.tags] = try connection.first("SELECT last FROM tag_counter") { $0.integer(0) } ?? 0
        own[.forgotten] = try connection.first("SELECT change FROM registration_history_start") { $0.integer(0) } ?? 0
        try splitContents(after: &own[.contents, default: 0])
        for hub in try connection.all("SELECT id FROM hubs WHERE is_deleted = 0", read: { $0.integer(0) }) {
            numbers.ofHub[hub] = own
        }
        return numbers
    }

    /// Gives new numbers to push variables that share a row of `contents` with a template, because both have the same
    /// bytes. Moved variables and templates never share a row.
    private func splitContents(after last: inout Int64) throws(StorageError) {
        let shared = try connection.all(
            """
            SELECT * FROM (SELECT template FROM registrations WHERE template IS NOT NULL
                UNION SELECT template FROM registration_history WHERE template IS NOT NULL)
            INTERSECT SELECT * FROM (SELECT variables FROM registrations WHERE variables IS NOT NULL
                UNION SELECT variables FROM registration_history WHERE variables IS NOT NULL)
            """
        ) { $0.integer(0) }
        for content in shared {
            last += 1
            variables[content] = last
        }
    }

    // MARK: Rows

    func readRows(
        of table: MovedTable, isForComparison: Bool, _ each: MoveSource.RowReceiver
    ) throws(StorageError) {
        let statement = try connection.take(MoveQuery(table).sql)
        defer { connection.giveBack(statement) }
        let refine = try refinement(of: table, isForComparison)
        while try statement.step() {
            var row: [MovedValue] = []
            row.reserveCapacity(table.columns.count)
            for index in table.columns.indices { row.append(MovedValue(statement, Int32(index))) }
            guard try refine?(&row, statement) ?? true else { continue }
            try pass(row, statement, of: table, each)
        }
    }

    /// Counts the rows of a table (`RetiringMoveSource.count(of:)`).
    func count(of table: MovedTable) throws(StorageError) -> Int64? {
        guard table.name == "notifications" else { return nil }
        return try connection.first(
            "SELECT count(*) FROM notifications x JOIN hubs live ON live.id = x.hub AND live.is_deleted = 0"
        ) { $0.integer(0) }
    }

    /// The rows of a table, which are stepped through one by one.
    struct Rows {
        let statement: Statement
        private let connection: Connection
        private let refine: Refinement?
        private let columns: Int

        fileprivate init(_ statement: Statement, _ connection: Connection, _ refine: Refinement?, columns: Int) {
            (self.statement, self.connection, self.refine, self.columns) = (statement, connection, refine, columns)
        }

        func next() throws(StorageError) -> Bool { try statement.step() }

        /// The current row in the moved form; nil if it is left out.
        func row() throws(StorageError) -> [MovedValue]? {
            var row: [MovedValue] = []
            row.reserveCapacity(columns)
            for index in 0..<columns { row.append(MovedValue(statement, Int32(index))) }
            return try refine?(&row, statement) ?? true ? row : nil
        }

        func end() { connection.giveBack(statement) }
    }

    /// Reads the row of a registration or a channel, as `rows(of:_:)` does.
    /// - Returns: nil if there is none.
    func row(of table: MovedTable, _ number: Int64) throws(StorageError) -> [MovedValue]? {
        let column = table.name == "channels" ? "id" : "sequence"
        let rows = try rows(of: table, "\(MoveQuery(table).sql) WHERE x.\(column) = ?")
        defer { rows.end() }
        try rows.statement.bind(number, at: 1)
        return try rows.next() ? try rows.row() : nil
    }

    /// Begins to read the rows of a table of one database with numbers of its own, which need not be shifted.
    func rows(of table: MovedTable, _ sql: String) throws(StorageError) -> Rows {
        Rows(
            try connection.take(sql), connection, try refinement(of: table, false), columns: table.columns.count)
    }

    private func pass(
        _ row: [MovedValue], _ statement: Statement, of table: MovedTable, _ each: MoveSource.RowReceiver
    ) throws(StorageError) {
        guard table.name == "progress" else { return try shiftAndPass(row, of: table, each) }
        let last = statement.integer(Int32(table.columns.count))
        for block in try progress(of: row[1].integer ?? 0, through: last) {
            var row = row
            row[3] = .integer(block.index)
            row[4] = .bytes(block.shortest.bytes)
            try shiftAndPass(row, of: table, each)
        }
    }

    private func shiftAndPass(
        _ row: [MovedValue], of table: MovedTable, _ each: MoveSource.RowReceiver
    ) throws(StorageError) {
        var row = row
        if table.isOfHub, let hub = row[0].integer, let distances = distances[hub] {
            MovedNumbers.shift(&row, of: table, by: distances, sign: -1)
        }
        try each(row)
    }

    /// Reads the progress map of a delivery.
    /// - Parameter last: A number that is not lower than that of any member.
    private func progress(of delivery: Int64, through last: Int64) throws(StorageError) -> [DeliveredBitmap] {
        let id = Delivery.ID(rawValue: delivery)
        var status = stat()
        // Opening a map sets the size of its file. The map is opened with the present size, so that the file is not
        // made shorter. A map without a file keeps the size for the one that it may get: a server that serves shares
        // its maps with a move, and goes on with them if the move fails.
        let size = stat(maps.path(of: id), &status) == 0 ? Int64(status.st_size) : 0
        guard let map = try maps.existingMap(for: id, through: size > 0 ? size * 8 - 1 : last) else { return [] }
        return map.blocks
    }

    // MARK: Forms

    /// Changes a row from the form of the schema to the moved form.
    /// - Returns: False if the row is left out.
    fileprivate typealias Refinement = (inout [MovedValue], Statement) throws(StorageError) -> Bool

    private func refinement(of table: MovedTable, _ isForComparison: Bool) throws(StorageError) -> Refinement? {
        func index(_ column: String) -> Int { table.index(of: column) ?? 0 }
        func changing(_ column: String, _ change: @escaping ([UInt8]) throws(StorageError) -> [UInt8]) -> Refinement {
            let index = index(column)
            return { row, _ throws(StorageError) in
                if let bytes = row[index].bytes { row[index] = .bytes(try change(bytes)) }
                return true
            }
        }
        switch table.name {
        case "users":
            let roles = index("roles")
            return { row, _ throws(StorageError) in
                row[roles] = .list(Self.words(row[roles]).sorted { $0.lexicographicallyPrecedes($1) })
                return true
            }
        case "operators":
            let roles = index("roles")
            return { row, _ throws(StorageError) in
                row[roles] = .list(Self.words(row[roles]))
                return true
            }
        case "sends":
            let payloads = index("payloads")
            return { row, _ throws(StorageError) in
                let parts = (row[payloads].bytes ?? []).split(
                    separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                row[payloads] = .list(parts.dropLast().map { Array($0) })
                return true
            }
        case "installations":
            let slots = index("dead_slots")
            return { row, _ throws(StorageError) in
                let names = Self.words(row[slots]).map { digits in
                    HexDigits.bytes(of: String(decoding: digits, as: UTF8.self).lowercased()) ?? []
                }
                row[slots] = .list(names.sorted { $0.lexicographicallyPrecedes($1) })
                return true
            }
        case "templates":
            return changing("content") { bytes throws(StorageError) in
                MovedContent.encode(try StoredContent.template(bytes))
            }
        case "variables":
            let (id, content) = (index("id"), index("content"))
            return { [self] row, _ throws(StorageError) in
                row[content] = .bytes(MovedContent.encode(try StoredContent.variables(row[content].bytes ?? [])))
                rename(&row[id])
                return true
            }
        case "registrations", "registration_history":
            return try tagging(table, isForComparison)
        case "channels":
            let (key, handle) = (index("key"), index("handle"))
            return { row, statement throws(StorageError) in
                for column in [key, handle] { row[column] = Self.form(statement, column) }
                return true
            }
        case "tombstones":
            let id = index("id")
            return { row, statement throws(StorageError) in
                row[id] = Self.form(statement, id)
                return true
            }
        case "former_channels": return formerKey(table)
        case "ranges":
            return changing("summary") { bytes throws(StorageError) in
                var range = RangeRecord(
                    last: .none, snapshot: .none, startedAt: Timestamp(milliseconds: 0),
                    endedAt: Timestamp(milliseconds: 0))
                guard RangeSummary.decode(bytes, into: &range) else { throw Self.unreadable }
                return MovedContent.encode(range)
            }
        case "page_records":
            let (records, member) = (index("records"), index("member"))
            return { [self] row, _ throws(StorageError) in
                guard let page = PageRecords(row[records].bytes ?? []) else { throw Self.unreadable }
                let distances =
                    row[member] == .integer(MemberNumbering.direct.rawValue)
                    ? [:] : self.distances[row[0].integer ?? 0] ?? [:]
                row[records] = .bytes(
                    page.renumbered(
                        channels: -(distances[.channels] ?? 0), registrations: -(distances[.registrations] ?? 0)))
                return true
            }
        case "refusals":
            let (handle, registration) = (index("handle"), index("registration_id"))
            return { row, statement throws(StorageError) in
                if row[handle] != .null { row[handle] = MovedValue(StoredHandle(statement, Int32(handle)).text) }
                if row[registration] != .null {
                    row[registration] = MovedValue(StoredID(statement, Int32(registration)).text)
                }
                return true
            }
        case "jobs": return inputTag(table)
        default: return nil
        }
    }

    private static var unreadable: StorageError {
        StorageError(.corrupt, "What a page has come to cannot be read; restore a backup.")
    }

    private static func words(_ value: MovedValue) -> [[UInt8]] {
        (value.bytes ?? []).split(separator: UInt8(ascii: " ")).map { Array($0) }
    }

    /// Returns a handle or an id in its moved form: a byte that is 0 for packed bytes and 1 for a text, and then these
    /// bytes or this text.
    private static func form(_ statement: Statement, _ column: Int) -> MovedValue {
        guard !statement.isNull(Int32(column)) else { return .null }
        return .bytes([statement.isBlob(Int32(column)) ? 0 : 1] + statement.bytes(Int32(column)))
    }

    private func rename(_ variables: inout MovedValue) {
        if let content = variables.integer, let renamed = self.variables[content] { variables = .integer(renamed) }
    }

    /// Returns the refinement for registrations and their former states. It adds the numbers of the row's tags, unless
    /// rows are only read for a comparison.
    private func tagging(_ table: MovedTable, _ isForComparison: Bool) throws(StorageError) -> Refinement {
        func index(_ column: String) -> Int { table.index(of: column) ?? 0 }
        let (id, handle, tags, numbers) = (index("id"), index("handle"), index("tags"), index("tag_numbers"))
        let (platform, template, variables) = (index("platform"), index("template"), index("variables"))
        let sql = "SELECT id FROM tags WHERE hub = ? AND name = ? AND is_template = ? AND platform = ?"
        return { [self] row, statement throws(StorageError) in
            row[id] = Self.form(statement, id)
            row[handle] = Self.form(statement, handle)
            rename(&row[variables])
            guard !isForComparison else { return true }
            let finding = try connection.take(sql)
            defer { connection.giveBack(finding) }
            try finding.bind(row[0].integer, at: 1)
            try finding.bind(row[template] != .null, at: 3)
            try finding.bind(row[platform].text, at: 4)
            var found: [Int64] = []
            for tag in (row[tags].bytes ?? []).split(separator: UInt8(ascii: ",")) {
                try finding.bind(String(decoding: tag, as: UTF8.self).lowercased(), at: 2)
                found.append(try finding.step() ? finding.integer(0) : 0)
                finding.reset()
            }
            row[numbers] = .numbers(found)
            return true
        }
    }

    /// Returns the refinement for removed channels. It finds the key of the removed channel, of which the schema keeps
    /// only the end. The key is computed from the last handle of the channel that the history knows, and is used if it
    /// has the right end. A channel for which no such key is found is left out, because nothing could be found with it.
    private func formerKey(_ table: MovedTable) -> Refinement {
        let (platform, key, handle) = (
            table.index(of: "platform") ?? 0, table.index(of: "key") ?? 0, table.index(of: "handle") ?? 0
        )
        let extra = Int32(table.columns.count)
        return { [self] row, statement throws(StorageError) in
            guard row[handle] != .null, let name = row[platform].text else { return false }
            let text = StoredHandle(statement, Int32(handle)).text
            row[handle] = Self.form(statement, handle)
            for candidate in [rules.key(PlatformID(rawValue: name), text), text] {
                guard let candidate else { continue }
                let stored: [UInt8] =
                    switch StoredHandle(candidate) {
                    case .packed(let bytes): [0] + bytes
                    case .text(let text): [1] + Array(text.utf8)
                    }
                guard Array(stored.dropFirst().suffix(32)) == statement.bytes(extra) else { continue }
                row[key] = .bytes(stored)
                return true
            }
            return false
        }
    }

    /// Returns the refinement for jobs. It replaces the stored entity tag of a job's input blob by `=` if the blob
    /// still has this tag. The target of the move replaces `=` by the tag of the moved blob.
    private func inputTag(_ table: MovedTable) -> Refinement {
        let (container, name, tag) = (
            table.index(of: "input_container") ?? 0, table.index(of: "input_name") ?? 0,
            table.index(of: "input_tag") ?? 0
        )
        return { [self] row, _ throws(StorageError) in
            if let stored = row[tag].text, !stored.isEmpty, try self.tag(of: row[container], row[name]) == stored {
                row[tag] = MovedValue("=")
            }
            return true
        }
    }

    /// Returns the present entity tag of a job's blob; nil if the blob does not exist.
    func tag(of container: MovedValue, _ name: MovedValue) throws(StorageError) -> String? {
        guard let container = container.text.flatMap({ ContainerName($0) }),
            let name = name.text.flatMap({ BlobName($0) })
        else { return nil }
        var status = stat()
        let path = try ContainerDirectory(directory.file("storage")).path(
            of: BlobAddress(container, name))
        guard lstat(path, &status) == 0 else { return nil }
        return Blob(name, status).entityTag
    }
}

extension MovedValue {
    /// Reads the value of a column from the statement's current row.
    init(_ statement: Statement, _ column: Int32) {
        self =
            statement.isNull(column)
            ? .null
            : statement.isInteger(column)
                ? .integer(statement.integer(column)) : .bytes(statement.bytes(column))
    }
}
