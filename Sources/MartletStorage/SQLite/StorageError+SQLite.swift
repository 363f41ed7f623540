import CMartletSQLite
import Glibc
import MartletCore

extension StorageError {
    /// Creates the error for a result code of SQLite. The error contains SQLite's message, which names tables and
    /// columns but never contains values.
    init(sqlite code: Int32, database: OpaquePointer?) {
        let message = database.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        let systemError = database.map { sqlite3_system_errno($0) } ?? 0
        let file = database.flatMap { sqlite3_db_filename($0, "main") }.map { String(cString: $0) } ?? ""
        switch code & 0xFF {
        case SQLITE_FULL: self = .full(at: file)
        case SQLITE_IOERR where systemError == ENOSPC || systemError == EDQUOT: self = .full(at: file)
        // SQLite writes files beside the database, also to read it.
        case SQLITE_CANTOPEN where Self.isReadOnly(file), SQLITE_READONLY where Self.isReadOnly(file):
            self.init(
                .unavailable,
                "The disk of '\(file)' is read-only, and a database is not even read without writing beside it. Make the "
                    + "disk writable, or copy the data directory to another.")
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            self.init(.corrupt, "The database is damaged or is none of this program (\(message)); restore a backup.")
        case SQLITE_BUSY, SQLITE_LOCKED:
            self.init(.locked, "Another process uses the database (\(message)); stop it and try again.")
        default:
            self.init(.unavailable, "The database could not be used: \(message) (SQLite \(code)).")
        }
    }

    private static func full(at file: String) -> StorageError {
        let place = file.isEmpty ? "The disk" : "The disk of '\(file)'"
        return StorageError(.full, "\(place) has no room left for the database; free some and try again.")
    }

    private static func isReadOnly(_ file: String) -> Bool {
        !file.isEmpty && access(file, W_OK) != 0 && errno == EROFS
    }
}
