import CMartletSQLite
import Glibc
public import MartletCore
import MartletModel

extension SQLiteStorage {
    /// Counts unfinished deliveries, including those that are not in the dispatcher's memory.
    public func backlog() async throws(StorageError) -> Backlog {
        let found = try await readers.read { connection throws(StorageError) in
            try connection.first(
                """
                SELECT count(*), count(DISTINCT d.notification), min(coalesce((SELECT p.begun_at FROM parts p
                    WHERE p.notification = d.notification AND p.number = d.part), n.due_at, n.accepted_at))
                FROM deliveries d CROSS JOIN notifications n ON n.sequence = d.notification WHERE d.is_final = 0
                """
            ) { row in
                let count = Int(row.integer(0))
                return Backlog(
                    deliveries: count, notifications: Int(row.integer(1)), oldest: count == 0 ? nil : row.timestamp(2))
            }
        }
        return found ?? Backlog(deliveries: 0, notifications: 0, oldest: nil)
    }

    public func waitingRetries(limit: Int) async throws(StorageError) -> [LaneID: WaitingRetries] {
        let found = try await readers.read { connection throws(StorageError) in
            try connection.all(
                """
                SELECT n.hub, f.platform, count(*), count(DISTINCT n.sequence), min(n.expires_at), min(f.due_at)
                FROM (SELECT d.notification, d.platform, r.due_at FROM deliveries d
                    CROSS JOIN retries r ON r.delivery = d.id WHERE d.is_final = 0 LIMIT ?) f
                CROSS JOIN notifications n ON n.sequence = f.notification GROUP BY n.hub, f.platform
                """, limit
            ) { row in
                (
                    lane: LaneID(
                        hub: Hub.ID(rawValue: row.integer(0)), platform: PlatformID(rawValue: row.text(1))),
                    retries: WaitingRetries(
                        pushes: Int(row.integer(2)), notifications: Int(row.integer(3)),
                        firstExpiry: row.timestamp(4), nextDue: row.timestamp(5), isPartial: false)
                )
            }
        }
        let isPartial = found.reduce(0) { $0 + $1.retries.pushes } >= limit
        return found.reduce(into: [:]) { lanes, entry in
            lanes[entry.lane] = entry.retries
            lanes[entry.lane]?.isPartial = isPartial
        }
    }

    /// Counts the waiting parts of all notifications that have begun and have not ended.
    public func waitingParts() async throws(StorageError) -> WaitingParts {
        let found = try await readers.read { connection throws(StorageError) in
            try connection.first(
                "SELECT count(*), min(due_at) FROM parts WHERE begun_at IS NULL AND \(PartTable.isOfRunning)"
            ) { WaitingParts(count: Int($0.integer(0)), nextDue: $0.optionalTimestamp(1)) }
        }
        return found ?? WaitingParts()
    }

    /// The number of changes that wait for the writer.
    public var waitingWrites: Int { writer.waitingCount }

    public var writeTimes: WriteTimes { writer.writeTimes }

    /// The sizes in bytes of the database file and of its write-ahead log; 0 for a file that does not exist.
    public var fileSizes: (database: Int64, log: Int64) {
        (size(of: Settings.databaseName), size(of: Settings.databaseName + "-wal"))
    }

    /// The number of bytes that SQLite has allocated in this process. Most of this memory is page caches, and each
    /// cache has its own limit.
    public var memory: Int64 { sqlite3_memory_used() }

    private func size(of name: String) -> Int64 {
        var status = stat()
        return stat(directory.file(name), &status) == 0 ? Int64(status.st_size) : 0
    }
}
