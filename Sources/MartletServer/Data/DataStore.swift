import MartletCore
import MartletStorage

/// The storage of a server: a database in the data directory, or one on PostgreSQL.
struct DataStore: Sendable {
    let storage: any ServerStorage
    /// The storage if it is a database in the data directory; nil for PostgreSQL. The files of a database in the data
    /// directory can be measured and copied.
    let files: SQLiteStorage?
    /// The locked data directory, if the database is on PostgreSQL; nil otherwise.
    let directory: NodeDirectory?
    /// The number of migration steps of the schema, for the log.
    let schema: Int
    /// The address of the database on PostgreSQL, for the log; nil for a database in the data directory.
    let database: String?

    /// Finishes pending writes, closes the storage and unlocks the data directory.
    func close() async {
        await storage.close()
        directory?.unlock()
    }
}
