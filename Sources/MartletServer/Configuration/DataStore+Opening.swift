import MartletCore
import MartletPostgres
import MartletStorage

extension DataStore {
    /// Opens the storage that a configuration names.
    /// - Parameter keys: Read again when nobody else uses the data directory, because another process may have changed
    ///   them.
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
            let storage = try await PostgresStorage.open(address, sealer: keys) { unfinished throws(StorageError) in
                try directory.progressMaps(keeping: unfinished)
            }
            return DataStore(
                storage: storage, files: nil, directory: directory, schema: PostgresStorage.schema,
                database: address.description)
        } catch {
            directory.unlock()
            throw error
        }
    }
}
