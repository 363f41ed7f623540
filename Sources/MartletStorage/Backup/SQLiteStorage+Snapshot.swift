import Glibc
public import MartletCore

extension SQLiteStorage {
    /// The space in bytes that must stay free in addition to a copy of the database, because the server writes to the
    /// same disk while it makes the copy.
    private static let spareRoom: UInt64 = 64 << 20

    /// Copies the database within the data directory, while the server reads and writes. The copy contains everything
    /// that was answered with success before the call.
    /// - Returns: The snapshot. The copy is removed when the snapshot is released.
    /// - Throws: `StorageError`: `.locked` if there is a snapshot already, `.full` if there is not enough free space.
    public func snapshot() async throws(StorageError) -> StorageSnapshot {
        let index = try SnapshotLocation(in: directory, snapshots, keeping: progressMaps)
        try await checkRoomForCopy()
        let (schema, unfinished) = try await writer.copy(to: index.database) { connection throws(StorageError) in
            (
                try connection.all("SELECT name FROM migrations ORDER BY position") { $0.text(0) },
                try DeliveryTable(connection).unfinishedIDs()
            )
        }
        return StorageSnapshot(
            at: index, schema: schema, unfinished: unfinished, maps: progressMaps, bodies: payloadBodies)
    }

    /// Returns true if this program can use a database whose schema was made by the migrations with these names. There
    /// must be at least one name, and the names must be those of this program's first migrations, in the same order.
    public static func knows(schema: [String]) -> Bool {
        !schema.isEmpty && Migration.all.map(\.name).starts(with: schema)
    }

    func checkRoomForCopy() async throws(StorageError) {
        let size = try await readers.read { connection throws(StorageError) in
            let pages = try connection.first("PRAGMA page_count") { $0.integer(0) } ?? 0
            return UInt64(clamping: pages * (try connection.first("PRAGMA page_size") { $0.integer(0) } ?? 0))
        }
        var status = statvfs()
        guard statvfs(directory.path, &status) == 0 else { throw StorageError(failed: "examine", directory.path) }
        let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        guard free >= size + Self.spareRoom else {
            throw StorageError(
                .full,
                "The database is copied within the data directory first: that needs \((size + Self.spareRoom) >> 20)"
                    + " MiB free, and there are \(free >> 20).")
        }
    }
}
