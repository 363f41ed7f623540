public import MartletCore
public import MartletModel

extension SQLiteStorage {
    /// Returns the time of the last backup that was read to its end; nil if there was none.
    public func lastBackup() async throws(StorageError) -> Timestamp? {
        try await readers.read { connection throws(StorageError) in
            try connection.first("SELECT at FROM last_backup") { $0.timestamp(0) }
        }
    }

    public func recordBackup(at time: Timestamp) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in
            try connection.run("DELETE FROM last_backup")
            try connection.run("INSERT INTO last_backup (at) VALUES (?)", time)
        }
    }

    /// Returns the time when a version of this program first opened the database; nil if the time is unknown.
    public func firstOpened() async throws(StorageError) -> Timestamp? {
        try await readers.read { connection throws(StorageError) in
            try connection.first("SELECT at FROM versions ORDER BY rowid LIMIT 1") { $0.timestamp(0) }
        }
    }
}
