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

    /// Opens the database of a data directory, made where it is missing, and brings it to the present schema.
    /// - Parameters:
    ///   - directory: Its path; made where it is missing, private (mode 0700), and locked until `close`.
    ///   - sealer: Seals the keys and credentials of hubs.
    ///   - diskReserve: How many bytes of the disk nothing new is taken into.
    /// - Throws: `StorageError`; `.locked` where another process has the directory.
    public convenience init(
        directory path: String, sealer: any Sealer, diskReserve: Int64 = DiskRoom.defaultReserve
    ) throws(StorageError) {
        var settings = Settings()
        settings.room = { DiskRoom(of: $0, reserve: diskReserve) }
        try self.init(directory: path, sealer: sealer, settings: settings)
    }

    init(directory path: String, sealer: any Sealer, settings: Settings) throws(StorageError) {
        directory = try StorageDirectory(path)
        self.sealer = sealer
        let room = settings.room(path)
        self.room = room
        SnapshotLocation.clean(in: directory)
        try directory.makePrivateFile(Settings.databaseName)
        let database = directory.file(Settings.databaseName)
        let connection = try settings.openWriter(database)
        try Migrator(migrations: settings.migrations).migrate(connection)
        try Self.expireUnpublished(connection)
        try directory.makePrivateDirectory("payloads")
        payloadBodies = try Self.openBodies(in: directory.file("payloads"), room, of: connection)
        let unfinished = try DeliveryTable(connection).unfinishedIDs()
        try BacklogTable(connection).begin()
        checkpointer = Checkpointer(try settings.openReader(database))
        writer = Writer(connection, checkpointer: checkpointer, limits: settings.logLimits)
        readers = try ReaderPool(ofEach: settings.readersOfEachKind) { isMapped throws(StorageError) in
            try settings.openReader(database, isMapped: isMapped)
        }
        try directory.makePrivateDirectory("progress")
        progressMaps = try FileProgressMaps(in: directory.file("progress"), keeping: unfinished)
        try directory.makePrivateDirectory("storage")
        containers = try FileContainerStore(
            in: directory.file("storage"), room: room, cleaningBefore: settings.blocksKeptSince())
    }

    /// On a full disk they stay until the sweep finds them old enough.
    private static func expireUnpublished(_ connection: Connection) throws(StorageError) {
        do throws(StorageError) {
            try PayloadRemoval(connection).expireUnpublished(at: nil)
        } catch  where error.kind == .full {
        }
    }

    /// Removes the bodies that have no record: what wrote them ended before.
    private static func openBodies(
        in path: String, _ room: DiskRoom, of connection: Connection
    ) throws(StorageError) -> PayloadBodies {
        let store = try FileContainerStore(in: path, room: room, cleaningBefore: .distantFuture)
        try store.keepBlobs(of: PayloadBodies.container) { name throws(StorageError) in
            try connection.first("SELECT 1 FROM payloads WHERE body = ?", name) { _ in true } ?? false
        }
        return PayloadBodies(store)
    }

    /// Reads something small.
    /// - Throws: `StorageError` where the database does not answer.
    public func probe() async throws(StorageError) {
        _ = try await readers.read { connection throws(StorageError) in
            try connection.first("SELECT count(*) FROM migrations") { $0.integer(0) }
        }
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
        var migrations = Migration.all
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
