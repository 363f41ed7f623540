import CMartletSQLite
import MartletCore

/// A copy of a database that is made in steps. Between the steps the connection can continue to write: changes to pages
/// that were already copied are also made in the copy. So the copy shows the database at the time of the last step. No
/// other connection may write meanwhile, because the copy would then start again.
///
/// Belongs to the thread of the connection that it copies. That connection must outlive the copy.
final class DatabaseCopy {
    private let target: Connection
    private var handle: OpaquePointer?

    /// Begins a copy.
    /// - Parameter path: The path of an existing empty file.
    init(of source: Connection, to path: String) throws(StorageError) {
        target = try Connection(path: path)
        // The copy is read only by this process. If the process ends early, the next start removes the copy. So its
        // journal is only kept in memory, and the copy is not flushed to disk.
        try target.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
        handle = target.beginCopy(of: source)
        guard handle != nil else { throw target.lastError }
    }

    deinit {
        if handle != nil { sqlite3_backup_finish(handle) }
    }

    /// Copies some pages.
    /// - Returns: True if these were the last pages. False if there are more pages, or if the database was locked; the
    ///   caller must then call `step` again.
    func step(pages: Int) throws(StorageError) -> Bool {
        switch sqlite3_backup_step(handle, Int32(pages)) {
        case SQLITE_OK, SQLITE_BUSY, SQLITE_LOCKED: return false
        case SQLITE_DONE:
            let code = sqlite3_backup_finish(handle)
            handle = nil
            guard code == SQLITE_OK else { throw target.lastError }
            // This makes the copy a single file without a separate log.
            try target.execute("PRAGMA journal_mode = DELETE")
            return true
        case let code: throw StorageError(sqlite: code, database: nil)
        }
    }
}
