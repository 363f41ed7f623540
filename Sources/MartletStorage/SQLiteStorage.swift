import Glibc
public import MartletCore
import MartletModel
import Synchronization

/// Implements the storage ports with one SQLite database: a write-ahead log that is flushed to disk at every commit,
/// one writer with group commit, and readers on threads of their own. Everything that was answered with success
/// survives the loss of the process and of power.
public final class SQLiteStorage: Sendable {
    /// The progress maps, stored next to the database.
    public let progressMaps: FileProgressMaps
    /// The containers of blobs, stored as files next to the database.
    public let containers: FileContainerStore
    /// The contents of payloads that are stored as files next to the database.
    public let payloadBodies: PayloadBodies
    /// The free space on the disk of the data directory.
    public let room: DiskRoom
    let writer: Writer
    let readers: ReaderPool
    let sealer: any Sealer
    /// True if the write-ahead log may contain texts of payloads that have been removed.
    let hasRemovedTexts = Atomic(true)
    let checkpointer: Checkpointer
    let directory: StorageDirectory
    let snapshots = SnapshotLocation.Taken()

    /// Returns whether a data directory contains a database.
    public static func exists(in directory: String) -> Bool {
        access("\(directory)/\(Settings.databaseName)", F_OK) == 0
    }

    /// Creates a data directory if it does not exist, private to its owner (mode 0700). An existing empty directory of
    /// the same owner is made private. Used to put files into the directory before storage is opened.
    /// - Throws: `StorageError` if the directory belongs to another user, or if other users can see its contents; it is
    ///   then left unchanged.
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

    /// Reads a small value, to check that the database answers.
    /// - Throws: `StorageError` if the database does not answer.
    public func probe() async throws(StorageError) {
        _ = try await readers.read { connection throws(StorageError) in
            try connection.first("SELECT count(*) FROM migrations") { $0.integer(0) }
        }
    }

    /// Returns once the writer's thread has responded.
    public func turn() async {
        await writer.turn()
    }

    /// Finishes the waiting writes, closes the database and unlocks the directory. Later calls fail with an error that
    /// says that the storage is closed.
    public func close() async {
        await readers.close()
        await checkpointer.close()
        await writer.close()
        directory.unlock()
    }
}

extension SQLiteStorage {
    /// The settings with which connections are opened.
    struct Settings: Sendable {
        /// The migrations to run; nil for those of this program.
        var migrations: [Migration]?
        var readersOfEachKind = 2
        /// The maximum number of pages of the database; nil for SQLite's own limit.
        var pageLimit: Int?
        var logLimits = LogLimits()
        /// Makes the `DiskRoom` of a directory.
        var room: @Sendable (String) -> DiskRoom = { DiskRoom(of: $0, reserve: DiskRoom.defaultReserve) }

        /// Returns the time since which blocks are kept although no blob was made of them: a week ago, as in other blob
        /// services.
        var blocksKeptSince: @Sendable () -> Timestamp = { Timestamp(seconds: Int64(time(nil)) - 7 * 86_400) }

        static let databaseName = "martlet.db"

        /// The settings that all connections share.
        private static let settings = """
            PRAGMA synchronous = FULL;
            PRAGMA trusted_schema = OFF;
            PRAGMA temp_store = MEMORY;
            """
        private static let mapping = "PRAGMA mmap_size = 1073741824;"

        /// Opens the connection that writes. Its cache holds the database pages that it changes: recording one audience
        /// page of a broadcast changes some megabytes. It reads the data about refusals through a memory mapping, which
        /// saves copying this data; it is spread over the whole database.
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

        /// Opens a connection that reads. It is also used for checkpoints, which change no data.
        /// - Parameter isMapped: Whether to read through a memory mapping, which saves a fifth of the time of an
        ///   audience page.
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
    /// Makes a change that adds new data.
    /// - Throws: `StorageError`; `.full` if only the reserve of the disk is left.
    func takeIn<Value: Sendable>(
        _ change: @escaping @Sendable (Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try room.check()
        return try await writer.write(change)
    }
}
