import Glibc
public import MartletCore

/// The data directory of a server that serves from it, as the source of a move. Its snapshot is a copy of the database
/// within the directory, made as for a backup.
///
/// Used on one thread; calls block.
public final class OnlineSQLiteMoveSource: OnlineMoveSource {
    private let storage: SQLiteStorage
    private let copy: MoveCopy
    private let former: SQLiteMoveReader
    private let rules: MoveRules
    private var present: SQLiteMoveReader?
    /// The entity tags of the blobs that were read before `advance`, hashed like their names, so that a million of them
    /// fits into memory.
    private var blobs: [MovedBlob.Identity: UInt64] = [:]
    /// The channels that differ between the two states, or whose registrations do. Found with the registrations.
    private var channels: Set<Int64> = []

    /// - Parameter copy: The snapshot (`SQLiteStorage.copyForMove`).
    public init(_ storage: SQLiteStorage, _ copy: MoveCopy, rules: MoveRules) throws(StorageError) {
        self.storage = storage
        self.copy = copy
        self.rules = rules
        former = try Self.reader(of: storage, copy.database, rules)
    }

    private static func reader(
        of storage: SQLiteStorage, _ database: String, _ rules: MoveRules
    ) throws(StorageError) -> SQLiteMoveReader {
        let connection = try SQLiteStorage.Settings().openReader(database, isMapped: true)
        // Rows that are sorted can be larger than the memory, so SQLite sorts them in files.
        try connection.execute("PRAGMA temp_store = FILE")
        // In one transaction, all reads see the same point in time.
        try connection.execute("BEGIN")
        return SQLiteMoveReader(connection, storage.directory, storage.progressMaps, storage.sealer, rules)
    }

    private var reader: SQLiteMoveReader { present ?? former }

    public func advance() throws(StorageError) {
        present = try Self.reader(of: storage, storage.directory.file(SQLiteStorage.Settings.databaseName), rules)
    }

    public func directory() throws(StorageError) -> MovedDirectory { try reader.hubs() }

    public func numbers() throws(StorageError) -> MovedNumbers {
        let numbers = try reader.numbers()
        guard reader.variables.isEmpty else {
            throw StorageError(
                .unavailable,
                "A template has the same bytes as the variables of another registration, which only a move of a stopped "
                    + "server can tell apart. Stop the server, and run 'martlet move' again.")
        }
        return numbers
    }

    public func count(of table: MovedTable) throws(StorageError) -> Int64? { try reader.count(of: table) }

    public func retire(to place: String) throws(StorageError) { try MovedAway.mark(storage.directory, to: place) }

    public func reinstate() throws(StorageError) { try MovedAway.unmark(storage.directory) }

    // MARK: Rows

    public func readRows(
        of table: MovedTable, isForComparison: Bool, _ each: RowReceiver
    ) throws(StorageError) {
        try reader.readRows(of: table, isForComparison: isForComparison, each)
    }

    private static let readInterval: Int64 = 50_000

    /// Reads both states in the order of the table's key, and compares the columns as SQLite has them. Only rows that
    /// differ are turned into moved rows.
    public func readChanges(
        of table: MovedTable, read: (Int64) throws(StorageError) -> Void, removed: RowReceiver, added: RowReceiver
    ) throws(StorageError) {
        guard let present else { return }
        switch table.name {
        case "registrations":
            return try readChangedRegistrations(of: table, present, read: read, removed: removed, added: added)
        case "channels":
            for channel in channels.sorted() {
                if let row = try former.row(of: table, channel) { try removed(row) }
                if let row = try present.row(of: table, channel) { try added(row) }
            }
            return
        default: break
        }
        let query = MoveQuery(orderedByKey: table)
        let (before, after) = (try former.rows(of: table, query.sql), try present.rows(of: table, query.sql))
        defer {
            before.end()
            after.end()
        }
        try Self.compare(before.statement, after.statement, by: query.key, read: read) {
            isBefore, isAfter throws(StorageError) in
            if isBefore, let row = try before.row() { try removed(row) }
            if isAfter, let row = try after.row() { try added(row) }
        }
    }

    /// Steps through the rows of two statements in the order of their key, and finds those that differ.
    /// - Parameters:
    ///   - isDoubtful: Whether a row counts as different although it is the same in both.
    ///   - differ: Called with whether the current row of each statement is one that differs.
    private static func compare(
        _ before: Statement, _ after: Statement, by key: [Int32], read: (Int64) throws(StorageError) -> Void,
        isDoubtful: (Statement) -> Bool = { _ in false },
        differ: (_ isBefore: Bool, _ isAfter: Bool) throws(StorageError) -> Void
    ) throws(StorageError) {
        var rows: Int64 = 0
        var (hasBefore, hasAfter) = (try before.step(), try after.step())
        while hasBefore || hasAfter {
            let order = !hasBefore ? 1 : !hasAfter ? -1 : before.order(to: after, by: key)
            if order != 0 || !before.isRow(equalTo: after) || isDoubtful(after) { try differ(order <= 0, order >= 0) }
            if order <= 0 { hasBefore = try before.step() }
            if order >= 0 { hasAfter = try after.step() }
            rows += 1
            if rows % readInterval == 0 { try read(rows) }
        }
    }

    /// Reads registrations and channels by themselves, because they are the largest tables and joining them takes most
    /// of the time. A registration has a part of its channel in its moved form, and a channel one of its registrations:
    /// so each that has changed makes the others changed too.
    private func readChangedRegistrations(
        of table: MovedTable, _ present: SQLiteMoveReader, read: (Int64) throws(StorageError) -> Void,
        removed: RowReceiver, added: RowReceiver
    ) throws(StorageError) {
        var changed: Set<Int64> = []
        try compareTables("channels", "id", "id", present, read: read) { before, after in
            if let channel = (before ?? after)?.integer(0) { changed.insert(channel) }
        }
        channels = changed
        try compareTables(
            table.name, "sequence", "channel", present, read: read, isDoubtful: { changed.contains($0.integer(1)) },
            differ: { before, after throws(StorageError) in
                for statement in [before, after].compactMap(\.self) { channels.insert(statement.integer(1)) }
                if let before, let row = try former.row(of: table, before.integer(0)) { try removed(row) }
                if let after, let row = try present.row(of: table, after.integer(0)) { try added(row) }
            })
    }

    /// Compares all rows of a table of the schema, of hubs that exist.
    /// - Parameters:
    ///   - key: The column by which the rows are ordered. It is the first column of the statements; `link` is the
    ///     second.
    ///   - differ: Called with the statements whose current row differs; nil for one that has no such row.
    private func compareTables(
        _ name: String, _ key: String, _ link: String, _ present: SQLiteMoveReader,
        read: (Int64) throws(StorageError) -> Void, isDoubtful: (Statement) -> Bool = { _ in false },
        differ: (_ before: Statement?, _ after: Statement?) throws(StorageError) -> Void
    ) throws(StorageError) {
        let sql = """
            SELECT x.\(key), x.\(link), x.* FROM \(name) x
            CROSS JOIN hubs live ON live.id = x.hub AND live.is_deleted = 0 ORDER BY x.\(key)
            """
        let (before, after) = (try former.connection.take(sql), try present.connection.take(sql))
        defer {
            former.connection.giveBack(before)
            present.connection.giveBack(after)
        }
        try Self.compare(before, after, by: [0], read: read, isDoubtful: isDoubtful) {
            isBefore, isAfter throws(StorageError) in
            try differ(isBefore ? before : nil, isAfter ? after : nil)
        }
    }

    // MARK: Blobs

    public func readBlobs(_ each: (MovedBlob, PieceReader) throws(StorageError) -> Void) throws(StorageError) {
        let isSnapshot = present == nil
        try reader.readBlobs(withUploads: !isSnapshot) { blob, content throws(StorageError) in
            if isSnapshot { blobs[blob.identity(rules)] = hash(content.tag) }
            try each(blob) { take throws(StorageError) in try content.read(take) }
        }
    }

    public func readChangedBlobs(_ each: (MovedBlob, PieceReader) throws(StorageError) -> Void) throws(StorageError) {
        try reader.readBlobs(withUploads: true) { blob, content throws(StorageError) in
            guard blob.kind == .upload || blobs[blob.identity(rules)] != hash(content.tag) else { return }
            try each(blob) { take throws(StorageError) in try content.read(take) }
        }
    }

    private func hash(_ tag: String) -> UInt64 {
        rules.hash(Array(tag.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// A copy of the database from which a move reads while the server goes on. It is removed when this object is released.
public final class MoveCopy: Sendable {
    private let location: SnapshotLocation
    var database: String { location.database }

    init(at location: SnapshotLocation) {
        self.location = location
    }
}

extension SQLiteStorage {
    /// Copies the database within the data directory, while the server reads and writes.
    /// - Parameter isWanted: Called from time to time; false gives the copy up.
    /// - Throws: `StorageError`: `.locked` if there is a copy already, `.full` if there is not enough free space.
    public func copyForMove(while isWanted: @Sendable () -> Bool) async throws(StorageError) -> MoveCopy {
        let location = try SnapshotLocation(in: directory, snapshots)
        try await checkRoomForCopy()
        _ = try await writer.copy(to: location.database, while: isWanted) { _ throws(StorageError) in true }
        return MoveCopy(at: location)
    }

    /// Refuses all changes of the database and of blobs from now on. When the call returns, all changes that were
    /// answered with success have been made, and no other will be.
    public func stopWriting() async {
        await gate.close()
        await writer.turn()
    }

    /// Takes changes again.
    public func resumeWriting() { gate.open() }
}
