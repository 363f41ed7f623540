import CMartletSQLite
import Glibc
import MartletCore

extension StorageError {
    /// Creates the error for a result code of SQLite. The error contains SQLite's message, which names tables and
    /// columns but never contains values.
    init(sqlite code: Int32, database: OpaquePointer?) {
        let message = database.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        let systemError = database.map { sqlite3_system_errno($0) } ?? 0
        switch code & 0xFF {
        case SQLITE_FULL:
            self.init(.full, "The disk has no room left for the database; free some and try again.")
        case SQLITE_IOERR where systemError == ENOSPC || systemError == EDQUOT:
            self.init(.full, "The disk has no room left for the database; free some and try again.")
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            self.init(.corrupt, "The database is damaged or is none of this program (\(message)); restore a backup.")
        case SQLITE_BUSY, SQLITE_LOCKED:
            self.init(.locked, "Another process uses the database (\(message)); stop it and try again.")
        default:
            self.init(.unavailable, "The database could not be used: \(message) (SQLite \(code)).")
        }
    }
}
