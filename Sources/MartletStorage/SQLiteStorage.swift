import Glibc
public import MartletCore
import MartletModel
import Synchronization

/// Implements the storage ports with one SQLite database: a write-ahead log that is flushed to disk at every commit,
/// one writer with group commit, and readers on threads of their own. Every change that was reported as successful
/// survives a crash of the process and a power failure.
public final class SQLiteStorage: Sendable {
    /// The progress maps, stored next to the database.
    public let progressMaps: FileProgressMaps
    /// The containers of blobs, stored as files next to the database.
    public let containers: FileContainerStore
    /// The contents of payloads that are stored as files next to the database.
    public let payloadBodies: PayloadBodies
    /// Reports the free space on the disk of the data directory, and how much of that space is reserved.
    public let room: DiskRoom
    let writer: Writer
    let readers: ReaderPool
    let sealer: any Sealer
    /// True if the write-ahead log may contain texts of payloads that have been removed. It is true at the start,
    /// because an earlier process may have left such texts.
    let hasRemovedTexts = Atomic(true)
    let checkpointer: Checkpointer
    let directory: StorageDirectory
    let snapshots = SnapshotLocation.Taken()
    /// Refuses changes while the data is moved away.
    let gate: WriteGate

    /// Returns whether a data directory contains a database.
    public static func exists(in directory: String) -> Bool {
        access("\(directory)/\(Settings.databaseName)", F_OK) == 0
    }

    /// Creates a data directory if it does not exist, private to its owner (mode 0700). An existing directory that is
    /// empty, or was used as a data directory before, is made private. Used to put files into the directory before
    /// storage is opened.
    /// - Throws: `StorageError` if the directory belongs to another user, or if it contains other files and is open to
    ///   other users. The directory is then left unchanged.
    public static func prepareDirectory(_ path: String) throws(StorageError) {
        try StorageDirectory.prepare(path)
    }

    init(
        directory: StorageDirectory, room: DiskRoom, sealer: any Sealer, writer: Writer, readers: ReaderPool,
        checkpointer: Checkpointer, payloadBodies: PayloadBodies, progressMaps: FileProgressMaps,
        containers: FileContainerStore, gate: WriteGate
    ) {
        self.gate = gate
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

    /// Returns once the writer's thread has run a task for this call. Used to check that the thread is not blocked.
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
    /// The settings with which storage is opened. Tests change the defaults.
    struct Settings: Sendable {
        /// The migrations to run; nil for all migrations of this program (`Migration.all`).
        var migrations: [Migration]?
        var readersOfEachKind = 2
        /// The maximum size of the database in SQLite's pages of 4 KiB; nil for SQLite's own limit.
        var pageLimit: Int?
        var logLimits = LogLimits()
        /// Makes the `DiskRoom` of a data directory from its path.
        var room: @Sendable (String) -> DiskRoom = { DiskRoom(of: $0, reserve: DiskRoom.defaultReserve) }

        /// Returns a time one week ago. Blocks and resumable uploads that have not changed since then are removed.
        /// Azure Blob Storage also keeps uncommitted blocks for a week.
        var blocksKeptSince: @Sendable () -> Timestamp = { Timestamp(seconds: Int64(time(nil)) - 7 * 86_400) }

        static let databaseName = "martlet.db"

        /// The SQL statements with which every connection is opened.
        private static let settings = """
            PRAGMA synchronous = FULL;
            PRAGMA trusted_schema = OFF;
            PRAGMA temp_store = MEMORY;
            """
        private static let mapping = "PRAGMA mmap_size = 1073741824;"

        /// Opens the connection that writes. Its cache holds the database pages that the connection changes: recording
        /// one audience page of a broadcast changes some megabytes. The connection reads through a memory mapping: it
        /// reads rows about refusals, which are spread over the whole file, and the mapping avoids a copy of each
        /// database page that contains such a row.
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

        /// Opens a connection that reads. The checkpointer also uses such a connection, because a checkpoint changes no
        /// data.
        /// - Parameter isMapped: Whether to read through a memory mapping, with which reading an audience page takes a
        ///   fifth less time.
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
    /// Makes a change that adds new data. Changes that only process or remove data use `writer.write` instead, so that
    /// they are still possible when the disk is nearly full.
    /// - Throws: `StorageError`; `.full` if less than the reserve of the disk is free.
    func takeIn<Value: Sendable>(
        _ change: @escaping @Sendable (Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try room.check()
        return try await writer.write(change)
    }
}
