public import MartletCore
import MartletModel

extension SQLiteStorage {
    /// Opens the database of a data directory, creates it if it does not exist, and migrates it to the current schema.
    /// - Parameters:
    ///   - directory: The path of the directory. The directory is created if it does not exist, made private to its
    ///     owner (mode 0700), and locked until `close` is called.
    ///   - sealer: Encrypts ("seals") the secrets in the database, such as the keys and credentials of hubs.
    ///   - diskReserve: The number of bytes that must stay free on the disk; nothing new is accepted if less is free.
    ///   - upgrade: How a database of an older schema is upgraded.
    /// - Throws: `StorageError`; `.locked` if another process uses the directory.
    public convenience init(
        directory path: String, sealer: any Sealer, diskReserve: Int64 = DiskRoom.defaultReserve,
        upgrade: Upgrade = Upgrade()
    ) throws(StorageError) {
        var settings = Settings()
        settings.room = { DiskRoom(of: $0, reserve: diskReserve) }
        try self.init(directory: path, sealer: sealer, settings: settings, upgrade: upgrade)
    }

    convenience init(
        directory path: String, sealer: any Sealer, settings: Settings, upgrade: Upgrade = Upgrade()
    ) throws(StorageError) {
        let directory = try StorageDirectory(path)
        try NodeDirectory.refuse(path)
        try Self.checkMarks(path)
        let room = settings.room(path)
        SnapshotLocation.clean(in: directory)
        try directory.makePrivateFile(Settings.databaseName)
        let database = directory.file(Settings.databaseName)
        let connection = try upgrade.open(in: directory, settings, settings.migrations ?? Migration.all)
        try Self.expireUnpublished(connection)
        try directory.makePrivateDirectory("payloads")
        let gate = WriteGate()
        let payloadBodies = try Self.openBodies(in: directory.file("payloads"), room, gate, of: connection)
        let unfinished = try DeliveryTable(connection).unfinishedIDs()
        try BacklogTable(connection).begin()
        let checkpointer = Checkpointer(try settings.openReader(database))
        let writer = Writer(connection, checkpointer: checkpointer, limits: settings.logLimits, gate: gate)
        let readers = try ReaderPool(ofEach: settings.readersOfEachKind) { isMapped throws(StorageError) in
            try settings.openReader(database, isMapped: isMapped)
        }
        try directory.makePrivateDirectory("progress")
        let progressMaps = try FileProgressMaps(in: directory.file("progress"), keeping: unfinished)
        try directory.makePrivateDirectory("storage")
        let containers = try FileContainerStore(
            in: directory.file("storage"), room: room, cleaningBefore: settings.blocksKeptSince(), gate: gate)
        self.init(
            directory: directory, room: room, sealer: sealer, writer: writer, readers: readers,
            checkpointer: checkpointer,
            payloadBodies: payloadBodies, progressMaps: progressMaps, containers: containers, gate: gate)
    }

    /// Throws an error if a server must not use a directory: its data was moved away, a move into it was not finished, or
    /// its data is not where the server would look for it.
    ///
    /// Opening a directory checks this too, under its lock. A caller that writes to the directory before it is opened, or
    /// that only examines it, checks it with this function.
    /// - Parameter isOfNode: Whether the server has its data in a shared database.
    /// - Throws: `StorageError`; `.locked` if a process uses the directory, for example a move, otherwise `.unavailable`.
    public static func checkUse(of path: String, isOfNode: Bool) throws(StorageError) {
        do throws(StorageError) {
            try checkMarks(path)
            if isOfNode { try NodeDirectory.refuseDatabase(in: path) } else { try NodeDirectory.refuse(path) }
        } catch {
            try StorageDirectory.checkLock(of: path)
            throw error
        }
    }

    /// Throws an error if a directory has a mark. Does not look at the lock.
    static func checkMarks(_ path: String) throws(StorageError) {
        try UnfinishedMove.refuse(path)
        try MovedAway.refuse(path)
    }

    /// Expires payloads that were never published. On a full disk this changes nothing. A later sweep then expires
    /// these payloads when they are old enough.
    private static func expireUnpublished(_ connection: Connection) throws(StorageError) {
        do throws(StorageError) {
            try PayloadRemoval(connection).expireUnpublished(at: nil)
        } catch  where error.kind == .full {
        }
    }

    /// Opens the bodies of payloads, and removes bodies without a payload, which an interrupted process can leave.
    private static func openBodies(
        in path: String, _ room: DiskRoom, _ gate: WriteGate, of connection: Connection
    ) throws(StorageError) -> PayloadBodies {
        let store = try FileContainerStore(in: path, room: room, cleaningBefore: .distantFuture, gate: gate)
        try store.keepBlobs(of: PayloadBodies.container) { name throws(StorageError) in
            try connection.first("SELECT 1 FROM payloads WHERE body = ?", name) { _ in true } ?? false
        }
        return PayloadBodies(store)
    }
}
