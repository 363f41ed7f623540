import MartletCore
import MartletPostgres
import MartletStorage

extension DataStore {
    /// Throws an error if a database on PostgreSQL has secrets and the configuration gives no key that could open them.
    ///
    /// Without this check, a start would make a key that opens none of them, and leave it in the data directory.
    static func checkKey(_ configuration: ServerConfiguration) async throws(StorageError) {
        guard let database = configuration.database,
            try ServerKeys.existing(in: configuration.dataDirectory) == nil
        else { return }
        try await PostgresStorage.checkWithoutKey(try DatabaseAddress(database))
    }

    /// Opens the storage that a configuration selects.
    /// - Parameter keys: The server's keys. The keys are read again after the data directory is locked, because another
    ///   process may have changed them until then.
    static func open(
        _ configuration: ServerConfiguration, _ keys: ServerKeys, _ log: Log
    ) async throws(StorageError) -> DataStore {
        guard let database = configuration.database else {
            let files = try SQLiteStorage(
                directory: configuration.dataDirectory, sealer: keys,
                diskReserve: configuration.diskReserve ?? DiskRoom.defaultReserve, upgrade: configuration.upgrade(log))
            return DataStore(
                storage: files, files: files, directory: nil, schema: SQLiteStorage.schema, database: nil)
        }
        let address = try DatabaseAddress(database)
        let directory = try NodeDirectory(configuration.dataDirectory)
        do throws(StorageError) {
            do throws(ServerError) {
                try keys.reload()
            } catch {
                throw StorageError(.unavailable, error.description)
            }
            var options = PostgresStorage.Options()
            if let name = configuration.node { options.node = name }
            options.version = configuration.versionWithCommit
            let storage = try await openDatabase(address, keys, options, directory, log)
            return DataStore(
                storage: storage, files: nil, directory: directory, schema: PostgresStorage.schema,
                database: address.description)
        } catch {
            directory.unlock()
            throw error
        }
    }

    private static let retryInterval = Duration.seconds(1)

    /// Opens a database on PostgreSQL.
    ///
    /// If this process has restarted itself (`ProcessRestart`), the database's address and password have worked before.
    /// So if the database does not answer, the process tries again until it does. In any other process, the error ends
    /// the start. So does a schema of a newer version: the service manager starts the program that is installed by then.
    private static func openDatabase(
        _ address: DatabaseAddress, _ keys: ServerKeys, _ options: PostgresStorage.Options, _ directory: NodeDirectory,
        _ log: Log
    ) async throws(StorageError) -> ClusteredStorage {
        let places = ClusteredStorage.ClusterPlaces(predecessors: directory.lastIncarnations) {
            incarnations throws(StorageError) in try directory.record(incarnations)
        }
        var hasFailed = false
        while true {
            do throws(StorageError) {
                return try await ClusteredStorage.open(address, sealer: keys, options: options, places: places) {
                    isNeeded throws(StorageError) in
                    try directory.progressMaps(where: isNeeded)
                }
            } catch {
                guard ProcessRestart.hasHappened, error.kind == .unavailable, !PostgresStorage.isNewer(error) else {
                    throw error
                }
                if !hasFailed { log.write(.warning, "The database is not there yet, and is tried again: \(error)") }
                hasFailed = true
                try? await Task.sleep(for: retryInterval)
            }
        }
    }
}
