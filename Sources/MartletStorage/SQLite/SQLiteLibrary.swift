import CMartletSQLite

/// The SQLite library that this program is linked with.
public enum SQLiteLibrary {
    /// The version of SQLite in use, such as `3.40.1`.
    public static var version: String { String(cString: sqlite3_libversion()) }
}
