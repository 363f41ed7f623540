import MartletCore
import MartletStorage

/// The storage of a server: a database in the data directory, or one on PostgreSQL.
struct DataStore: Sendable {
    let storage: any ServerStorage
    /// The storage, if it is a database in the data directory. Only this can be measured and copied as files.
    let files: SQLiteStorage?
    /// The data directory, if the storage is elsewhere.
    let directory: NodeDirectory?
    /// The number of steps that the schema has, for the log.
    let schema: Int
    /// The name of the database on PostgreSQL, for the log; nil for files.
    let database: String?

    /// Finishes pending writes, closes the storage and unlocks the data directory.
    func close() async {
        await storage.close()
        directory?.unlock()
    }
}
