public import MartletCore

/// A data directory whose data is moved to another place. The directory is locked as long as this object lives. The
/// data in its database and its blobs stays as it is. Progress maps that are no longer needed are removed, as at the
/// start of a server. `retire` adds a mark (`MovedAway`).
public final class SQLiteMoveSource: RetiringMoveSource {
    private let files: StorageDirectory
    private let reader: SQLiteMoveReader

    /// Opens a data directory.
    /// - Parameter sealer: Opens the secrets of the hubs.
    /// - Throws: `StorageError`; `.locked` if another process uses the directory, `.unavailable` if the schema of the
    ///   database is not that of this program.
    public init(_ path: String, sealer: any Sealer, rules: MoveRules) throws(StorageError) {
        guard SQLiteStorage.exists(in: path) else {
            throw StorageError(.unavailable, "There is no database in '\(path)', so there is nothing to move.")
        }
        let directory = try StorageDirectory.forMove(path)
        files = directory
        try SQLiteStorage.checkMarks(path)
        switch try SQLiteStorage.schemaState(in: path) {
        case .current: break
        case .older:
            throw StorageError(
                .unavailable,
                "The database in '\(path)' is that of an earlier version. Start the server of this version once, stop it, "
                    + "and try again.")
        case .newer:
            throw StorageError(
                .unavailable, "The database in '\(path)' was written by a newer version: move it with that.")
        }
        let connection = try SQLiteStorage.Settings().openReader(directory.file(SQLiteStorage.Settings.databaseName))
        // Rows that are sorted can be larger than the memory, so SQLite sorts them in files.
        try connection.execute("PRAGMA temp_store = FILE")
        // In one transaction, all reads see the same point in time. No other process should write, but this makes sure.
        try connection.execute("BEGIN")
        try directory.makePrivateDirectory("progress")
        let maps = try FileProgressMaps(
            in: directory.file("progress"), keeping: try DeliveryTable(connection).unfinishedIDs())
        reader = SQLiteMoveReader(connection, directory, maps, sealer, rules)
    }

    public func directory() throws(StorageError) -> MovedDirectory { try reader.hubs() }
    public func numbers() throws(StorageError) -> MovedNumbers { try reader.numbers() }

    /// Counts only notifications. For all other tables, foreign keys rule out references to missing rows.
    public func count(of table: MovedTable) throws(StorageError) -> Int64? {
        try reader.count(of: table)
    }

    public func retire(to place: String) throws(StorageError) { try MovedAway.mark(files, to: place) }

    public func readRows(
        of table: MovedTable, isForComparison: Bool, _ each: RowReceiver
    ) throws(StorageError) {
        try reader.readRows(of: table, isForComparison: isForComparison, each)
    }

    public func readBlobs(_ each: (MovedBlob, PieceReader) throws(StorageError) -> Void) throws(StorageError) {
        try reader.readBlobs(each)
    }
}
