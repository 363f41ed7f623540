import CMartletSQLite
import MartletCore

/// A copy of a database that is made in steps, between which its connection writes on: what it changes of the pages that
/// have been copied is changed in the copy too. So the copy shows one point in time, that of its last step. Another connection
/// must not write meanwhile, for then it begins again.
///
/// Belongs to the thread of the connection that it copies; that must outlive it.
final class DatabaseCopy {
    private let target: Connection
    private var handle: OpaquePointer?

    /// - Parameter path: An existing empty file.
    init(of source: Connection, to path: String) throws(StorageError) {
        target = try Connection(path: path)
        // A copy that was not finished is thrown away: it needs no journal, and is put on disk where it ends up.
        try target.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
        handle = target.beginCopy(of: source)
        guard handle != nil else { throw target.lastError }
    }

    deinit {
        if handle != nil { sqlite3_backup_finish(handle) }
    }

    /// Copies some pages.
    /// - Returns: Whether those were the last.
    func step(pages: Int) throws(StorageError) -> Bool {
        switch sqlite3_backup_step(handle, Int32(pages)) {
        case SQLITE_OK, SQLITE_BUSY, SQLITE_LOCKED: return false
        case SQLITE_DONE:
            let code = sqlite3_backup_finish(handle)
            handle = nil
            guard code == SQLITE_OK else { throw target.lastError }
            // The copy is one file, without a log beside it.
            try target.execute("PRAGMA journal_mode = DELETE")
            return true
        case let code: throw StorageError(sqlite: code, database: nil)
        }
    }
}
