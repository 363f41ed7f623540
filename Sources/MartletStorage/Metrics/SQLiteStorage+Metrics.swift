import CMartletSQLite
import Glibc
public import MartletCore
public import MartletModel

extension SQLiteStorage {
    /// What is accepted and not finished.
    public struct Backlog: Sendable, Equatable {
        /// Deliveries, one for each platform of a notification.
        public var deliveries: Int
        /// When the oldest of them was accepted, or was due; nil where there is none.
        public var oldest: Timestamp?
    }

    /// Counts what is not finished, those too that wait beyond the memory of the dispatcher.
    public func backlog() async throws(StorageError) -> Backlog {
        let found = try await readers.read { connection throws(StorageError) in
            try connection.first(
                """
                SELECT count(*), min(coalesce(n.due_at, n.accepted_at))
                FROM deliveries d CROSS JOIN notifications n ON n.sequence = d.notification WHERE d.is_final = 0
                """
            ) { row in
                let count = Int(row.integer(0))
                return Backlog(deliveries: count, oldest: count == 0 ? nil : row.timestamp(1))
            }
        }
        return found ?? Backlog(deliveries: 0, oldest: nil)
    }

    /// How many changes wait for the writer.
    public var waitingWrites: Int { writer.waitingCount }

    public var writeTimes: WriteTimes { writer.writeTimes }

    /// Bytes of the database's file and of its write-ahead log; 0 for one that is not there.
    public var fileSizes: (database: Int64, log: Int64) {
        (size(of: Settings.databaseName), size(of: Settings.databaseName + "-wal"))
    }

    /// Bytes that SQLite has allocated in this process: caches of pages, each with a limit of its own, above all.
    public var memory: Int64 { sqlite3_memory_used() }

    private func size(of name: String) -> Int64 {
        var status = stat()
        return stat(directory.file(name), &status) == 0 ? Int64(status.st_size) : 0
    }
}
