import Glibc
public import MartletCore
import MartletModel
import Synchronization

/// The storage ports on one SQLite database: write-ahead log, synchronous, one writer with group commit, readers on
/// threads of their own. What it has answered with success survives the loss of the process and of power.
public final class SQLiteStorage: Sendable {
    /// Where progress maps lie, beside the database.
    public let progressMaps: FileProgressMaps
    /// Containers of blobs, as files beside the database.
    public let containers: FileContainerStore
    /// Contents of payloads that are files, beside the database.
    public let payloadBodies: PayloadBodies
    /// The room on the disk.
    public let room: DiskRoom
    let writer: Writer
    let readers: ReaderPool
    let sealer: any Sealer
    /// Whether the write-ahead log may hold texts of payloads that have been removed.
    let hasRemovedTexts = Atomic(true)
    let checkpointer: Checkpointer
    let directory: StorageDirectory
    let snapshots = SnapshotLocation.Taken()

    /// Whether there is a database in a data directory.
    public static func exists(in directory: String) -> Bool {
        access("\(directory)/\(Settings.databaseName)", F_OK) == 0
    }

    /// Makes a data directory where it is missing, private to its owner (mode 0700). An empty one of the owner's becomes
    /// private. For what has to be in the directory before storage is opened.
    /// - Throws: `StorageError` where it belongs to somebody else or other users can see what is in it; it then is as it
    ///   was.
    public static func prepareDirectory(_ path: String) throws(StorageError) {
        try StorageDirectory.prepare(path)
    }

    init(
        directory: StorageDirectory, room: DiskRoom, sealer: any Sealer, writer: Writer, readers: ReaderPool,
        checkpointer: Checkpointer, payloadBodies: PayloadBodies, progressMaps: FileProgressMaps,
        containers: FileContainerStore
    ) {
        self.directory = directory
        self.room = room
        self.sealer = sealer
        self.writer = writer
        self.readers = readers
        self.checkpointer = checkpointer
        self.payloadBodies = payloadBodies
        self.progressMaps = progressMaps
        self.containers = containers
    }

    /// Reads something small.
    /// - Throws: `StorageError` where the database does not answer.
    public func probe() async throws(StorageError) {
        _ = try await readers.read { connection throws(StorageError) in
            try connection.first("SELECT count(*) FROM migrations") { $0.integer(0) }
        }
    }

    /// Returns once the thread that writes has turned.
    public func turn() async {
        await writer.turn()
    }

    /// Finishes the writes that wait, closes the database and unlocks the directory. Later calls fail as closed.
    public func close() async {
        await readers.close()
        await checkpointer.close()
        await writer.close()
        directory.unlock()
    }
}

extension SQLiteStorage {
    /// How connections are opened.
    struct Settings: Sendable {
        /// nil: those of this program.
        var migrations: [Migration]?
        var readersOfEachKind = 2
        /// The most pages that the database may have; nil for SQLite's own limit.
        var pageLimit: Int?
        var logLimits = LogLimits()
        /// How the room of a directory is known.
        var room: @Sendable (String) -> DiskRoom = { DiskRoom(of: $0, reserve: DiskRoom.defaultReserve) }

        /// Since when blocks that were never made a blob of are kept: a week, as blob services do.
        var blocksKeptSince: @Sendable () -> Timestamp = { Timestamp(seconds: Int64(time(nil)) - 7 * 86_400) }

        static let databaseName = "martlet.db"

        /// What all connections have in common.
        private static let settings = """
            PRAGMA synchronous = FULL;
            PRAGMA trusted_schema = OFF;
            PRAGMA temp_store = MEMORY;
            """
        private static let mapping = "PRAGMA mmap_size = 1073741824;"

        /// Its cache is for what it changes: what a page of a broadcast leaves is some megabytes. What a page of refusals is
        /// about lies all over the database, and need not be copied to be read.
        func openWriter(_ path: String) throws(StorageError) -> sending Connection {
            let connection = try Connection(path: path)
            try connection.execute(
                """
                PRAGMA journal_mode = WAL;
                PRAGMA foreign_keys = ON;
                PRAGMA secure_delete = ON;
                PRAGMA cache_size = -32768;
                PRAGMA journal_size_limit = 67108864;
                \(Self.settings)
                \(Self.mapping)
                """)
            if let pageLimit { try connection.execute("PRAGMA max_page_count = \(pageLimit)") }
            return connection
        }

        /// Also for checkpoints, which change no data.
        /// - Parameter isMapped: Whether it reads through a mapping, which spares a fifth of the time of an audience page.
        func openReader(_ path: String, isMapped: Bool = false) throws(StorageError) -> sending Connection {
            let connection = try Connection(path: path)
            try connection.execute(
                """
                PRAGMA query_only = ON;
                PRAGMA cache_size = -4096;
                \(Self.settings)
                \(isMapped ? Self.mapping : "")
                """)
            return connection
        }
    }
}

extension SQLiteStorage {
    /// Does a change that takes in something new.
    /// - Throws: `StorageError`; `.full` where only the reserve of the disk is left.
    func takeIn<Value: Sendable>(
        _ change: @escaping @Sendable (Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try room.check()
        return try await writer.write(change)
    }
}
