import Glibc
public import MartletCore
import MartletModel

/// A data directory, empty at first, into which data is moved. Until the move is complete, a mark in the directory
/// (`UnfinishedMove`) makes servers refuse it, and allows another move to start over.
///
/// In the source, each hub may number its rows from 1. Here, rows of different hubs get different numbers.
public final class SQLiteMoveTarget: MoveTarget {
    private let files: StorageDirectory
    private let connection: Connection
    private let reader: SQLiteMoveReader
    private let maps: FileProgressMaps
    private let sealer: any Sealer
    private var rows: MovedRowWriter?
    private var writer: MovedDeviceWriter
    private var hubNames: [Int64: String] = [:]
    /// The notifications that cannot be moved, because their samples would consist of other devices here.
    private var sampled: [String] = []

    /// Makes the directory if it is missing, and makes a database in it. An existing directory must be empty, except
    /// for files that `UnfinishedMove` allows.
    /// - Throws: `StorageError`; `.locked` if another process has the directory.
    public convenience init(_ path: String, sealer: any Sealer, rules: MoveRules) throws(StorageError) {
        try self.init(path, sealer: sealer, rules: rules) { posix_fallocate($0, $1, $2) }
    }

    init(
        _ path: String, sealer: any Sealer, rules: MoveRules, allocate: @escaping FileProgressMap.Allocation
    ) throws(StorageError) {
        let directory = try StorageDirectory.forMove(path)
        try NodeDirectory.refuse(path)
        try UnfinishedMove.begin(in: directory)
        let name = SQLiteStorage.Settings.databaseName
        try directory.makePrivateFile(name)
        let connection = try Connection(path: directory.file(name))
        // Nothing has to survive a crash before the move is complete, so nothing is flushed to disk until then.
        try connection.execute(
            """
            PRAGMA synchronous = OFF;
            PRAGMA journal_mode = MEMORY;
            PRAGMA foreign_keys = OFF;
            PRAGMA cache_size = -262144;
            PRAGMA temp_store = FILE;
            """)
        try Migrator(migrations: Migration.all).migrate(connection)
        try connection.execute("BEGIN")
        maps = try FileProgressMaps(in: directory.file("progress"), keeping: [], allocate: allocate)
        reader = SQLiteMoveReader(connection, directory, maps, sealer, rules)
        writer = MovedDeviceWriter(connection)
        files = directory
        self.connection = connection
        self.sealer = sealer
    }

    // MARK: Reading

    public func directory() throws(StorageError) -> MovedDirectory { try reader.hubs() }
    public func numbers() throws(StorageError) -> MovedNumbers { try reader.numbers() }

    public func readRows(
        of table: MovedTable, isForComparison: Bool, _ each: RowReceiver
    ) throws(StorageError) {
        try reader.readRows(of: table, isForComparison: isForComparison, each)
    }

    public func readBlobs(_ each: (MovedBlob, PieceReader) throws(StorageError) -> Void) throws(StorageError) {
        try reader.readBlobs(each)
    }

    public var place: String {
        guard let absolute = realpath(files.path, nil) else { return "the directory '\(files.path)'" }
        defer { free(absolute) }
        return "the directory '\(String(cString: absolute))'"
    }

    // MARK: Hubs

    public func begin(_ directory: MovedDirectory, _ numbers: MovedNumbers) throws(StorageError) {
        reader.distances = numbers.distances
        let table = HubTable(connection, sealer)
        for hub in directory.hubs {
            hubNames[hub.id.rawValue] = hub.name
            let settings = hub.settings
            try connection.run(
                """
                INSERT INTO hubs (id, name, folded_name, registration_ttl, user_metadata, request_rate, backlog_limit,
                    created_at, modified_at, testers, app_name, app_icon)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, hub.id.rawValue, hub.name, hub.name.lowercased(), settings.registrationTTL?.wholeMilliseconds,
                settings.userMetadata, settings.limits.requestRate, settings.limits.backlog, hub.createdAt,
                hub.modifiedAt, settings.sending.testers, settings.sending.appName, settings.sending.appIcon)
            try table.insertParts(settings, of: hub.id)
        }
        try AccessRuleTable(connection, sealer).replaceNamespaceRules(directory.rules)
        if let hub = directory.backendHub { try table.setBackendHub(hub) }
        try setLastNumbers(numbers)
    }

    /// Sets the last number of each kind, so that a number that was assigned before the move is not assigned again.
    private func setLastNumbers(_ numbers: MovedNumbers) throws(StorageError) {
        func end(_ kind: MovedNumber) -> Int64 {
            numbers.ofHub.map { hub, last in (reader.distances[hub]?[kind] ?? 0) + (last[kind] ?? 0) }.max() ?? 0
        }
        for (kind, table) in SQLiteMoveReader.sequences { try setSequence(of: table, to: end(kind)) }
        try setSequence(of: "hubs", to: numbers.hubs)
        try setSequence(of: "operator_actions", to: numbers.operatorActions)
        try setSequence(of: "payload_audit", to: numbers.payloadAudit)
        // The schema has one start of the history for all hubs: the latest start of a hub. For the other hubs, more of
        // the history may be known than this start says.
        let forgotten = numbers.ofHub.compactMap { hub, last in
            last[.forgotten].flatMap { $0 > 0 ? $0 + (reader.distances[hub]?[.forgotten] ?? 0) : nil }
        }
        try connection.run("UPDATE registration_history_start SET change = ?", forgotten.max() ?? 0)
    }

    private func setSequence(of table: String, to last: Int64) throws(StorageError) {
        try connection.run("DELETE FROM sqlite_sequence WHERE name = ?", table)
        try connection.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", table, last)
    }

    // MARK: Rows

    public func beginRows(of table: MovedTable) throws(StorageError) {
        rows = try MovedRowWriter(table, connection)
    }

    public func add(_ row: [MovedValue]) throws(StorageError) {
        guard let rows else { return }
        let (table, name) = (rows.table, rows.table.name)
        var row = row
        let distances = table.isOfHub ? reader.distances[row[0].integer ?? 0] ?? [:] : [:]
        MovedNumbers.shift(&row, of: table, by: distances, sign: 1)
        switch name {
        case "templates", "variables", "tags", "registrations", "registration_history", "channels", "former_channels",
            "installations":
            try writer.add(row, rows)
            if name == "variables" { reader.variables = writer.splitVariables }
        case "notifications":
            examineSample(of: row, rows, distances)
            try MovedSendWriter(connection).addNotification(row, rows)
        case "users", "sends", "operators": try MovedSendWriter(connection).addWithList(row, rows)
        case "ranges":
            try rows.add(row) { column, value throws(StorageError) in
                guard column == "summary", let bytes = value.bytes else { return value }
                var range = RangeRecord(
                    last: .none, snapshot: .none, startedAt: Timestamp(milliseconds: 0),
                    endedAt: Timestamp(milliseconds: 0))
                try MovedContent.read(bytes, into: &range)
                return .bytes(RangeSummary.encode(range))
            }
        case "page_records":
            let isDirect = row[2] == .integer(MemberNumbering.direct.rawValue)
            try rows.add(row) { column, value throws(StorageError) in
                guard column == "records", !isDirect, let page = value.bytes.flatMap({ PageRecords($0) }) else {
                    return value
                }
                return .bytes(
                    page.renumbered(
                        channels: distances[.channels] ?? 0, registrations: distances[.registrations] ?? 0))
            }
        case "refusals":
            try rows.add(row) { column, value throws(StorageError) in
                switch (column, value.text) {
                case ("handle", let text?): StoredHandle(text).moved
                case ("registration_id", let text?): StoredID(text).moved
                default: value
                }
            }
        case "progress": try addProgress(row)
        case "jobs":
            let tag = try reader.tag(of: row[7], row[8])
            try rows.add(row) { column, value throws(StorageError) in
                column == "input_tag" && value.text == "=" ? MovedValue(tag ?? "") : value
            }
        default: try rows.add(row)
        }
    }

    public func endRows() throws(StorageError) {
        rows = nil
        guard sampled.isEmpty else {
            throw StorageError(
                .unavailable,
                "The canary of these notifications is not finished: \(sampled.joined(separator: ", ")). In a directory the "
                    + "devices of these hubs get other numbers, and other devices would be in the sample. Start a node, wait "
                    + "until the notifications are finished or cancel them (martlet cancel HUB ID), stop the node, and move "
                    + "again. Nothing was moved.")
        }
    }

    /// Adds a notification to `sampled` if it has begun with a sample and is not finished, and if its devices get other
    /// numbers here. The sample depends on these numbers (`SampleHash`). With other numbers, some devices would get the
    /// push twice, and others never.
    private func examineSample(of row: [MovedValue], _ rows: MovedRowWriter, _ distances: [MovedNumber: Int64]) {
        func isSet(_ column: String) -> Bool { row[rows.index(column)] != .null }
        let isRenumbered = distances[.channels, default: 0] != 0 || distances[.registrations, default: 0] != 0
        guard isRenumbered, isSet("begun_at"), !isSet("finished_at"), !isSet("handles"),
            ["sample_size", "sample_share", "sample_threshold"].contains(where: isSet)
        else { return }
        let id = row[rows.index("id")].bytes.flatMap { NotificationID(bytes: $0) }
        sampled.append("\(id?.description ?? "?") of the hub '\(hubNames[row[0].integer ?? 0] ?? "")'")
    }

    private func addProgress(_ row: [MovedValue]) throws(StorageError) {
        guard let id = row[1].integer, let place = row[3].integer, let bytes = row[4].bytes else { return }
        let end = (place + 1) * DeliveredBitmap.size - 1
        let map = try maps.map(for: Delivery.ID(rawValue: id), through: end)
        for number in DeliveredBitmap(index: place, bytes: bytes).numbers {
            map.insert(AudienceMember(channel: ChannelID(rawValue: number)))
        }
    }

    // MARK: Blobs

    public func add(_ blob: MovedBlob, _ content: PieceReader) throws(StorageError) {
        let root = try ContainerDirectory(files.file(blob.isOfPayloads ? "payloads" : "storage"))
        if blob.kind == .upload {
            guard let name = UploadName.resumable(blob.name) else { return }
            let path = root.path(ofUpload: name)
            _ = try write(content, to: path, isTemporary: false)
            return
        }
        guard let container = ContainerName(blob.container) else { throw Self.unknownName }
        if blob.kind == .container {
            _ = try SQLiteMoveReader.attempt { () throws(ContainerError) in try root.create(container) }
            return
        }
        guard let name = BlobName(blob.name) else { throw Self.unknownName }
        let file = try write(content, to: root.path(ofUpload: UploadName.fresh()), isTemporary: true)
        let address = BlobAddress(container, name)
        _ = try SQLiteMoveReader.attempt { () throws(ContainerError) in try root.index(file, at: address, .none) }
        let milliseconds = blob.modifiedAt.milliseconds
        let time = timespec(
            tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
        guard utimensat(AT_FDCWD, root.path(of: address), [time, time], AT_SYMLINK_NOFOLLOW) == 0 else {
            throw StorageError(failed: "set the time of", root.path(of: address))
        }
        // The content was flushed to disk already. This also flushes the time of the last change.
        try Self.synchronizeFile(root.path(of: address))
    }

    private static var unknownName: StorageError {
        StorageError(.corrupt, "A container or a blob has a name that is none. Nothing was completed.")
    }

    private func write(
        _ content: PieceReader, to path: String, isTemporary: Bool
    ) throws(StorageError) -> OpenFile {
        let file = try SQLiteMoveReader.attempt { () throws(ContainerError) in
            try OpenFile(writing: path, at: nil, isTemporary: isTemporary)
        }
        try content { piece throws(StorageError) in
            try SQLiteMoveReader.attempt { () throws(ContainerError) in try file.write(piece) }
        }
        try SQLiteMoveReader.attempt { () throws(ContainerError) in try file.synchronize() }
        return file
    }

    // MARK: Completing

    public func endCopying() throws(StorageError) {
        guard maps.areOnDisk else {
            throw StorageError(
                .full,
                "The disk has no room for what unfinished sends have reached. Make room, and run 'martlet move' again. "
                    + "Nothing was completed.")
        }
        try writer.end()
        try connection.execute(
            """
            UPDATE collapses SET is_latest = 1 WHERE delivery = (SELECT max(delivery) FROM collapses o
                WHERE o.hub = collapses.hub AND o.platform = collapses.platform AND o.key = collapses.key
                    AND o.anchor = collapses.anchor AND o.expression = collapses.expression);
            """)
        let orphans = try connection.all("PRAGMA foreign_key_check") { "\($0.text(0)) (\($0.text(2)))" }
        guard orphans.isEmpty else {
            throw StorageError(
                .corrupt, "Rows of '\(orphans[0])' belong to nothing that was moved. Nothing was completed.")
        }
        try connection.execute("COMMIT; BEGIN")
    }

    public func complete() throws(StorageError) {
        try connection.execute("COMMIT; PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL")
        // The database was written without flushing, so flushing only the directory would not be enough.
        try Self.synchronizeFile(files.file(SQLiteStorage.Settings.databaseName))
        for name in try StorageDirectory.entries(of: files.file("progress")) {
            try Self.synchronizeFile(files.file("progress/\(name)"))
        }
        // An operator may have copied the key here shortly before.
        let key = files.file(UnfinishedMove.keyName)
        if StorageDirectory.exists(key) { try Self.synchronizeFile(key) }
        for name in UnfinishedMove.parts { try StorageDirectory.synchronize(files.file(name)) }
        // This directory contains the names of the files that jobs are still writing.
        try StorageDirectory.synchronize(files.file("storage/uploads"))
        try StorageDirectory.synchronize(files.path)
        try UnfinishedMove.end(in: files)
    }

    private static func synchronizeFile(_ path: String) throws(StorageError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw StorageError(failed: "open", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StorageError(failed: "synchronize", path) }
    }
}
