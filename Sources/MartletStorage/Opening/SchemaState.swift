public import MartletCore

/// The result of comparing the schema of a database on disk with the schema of this program.
public enum SchemaState: Equatable, Sendable {
    case current
    /// The database lacks this many migration steps; the next start runs them.
    case older(steps: Int)
    case newer

    /// Compares the steps of a database with the steps of this program.
    /// - Parameters:
    ///   - done: The names of the steps that the database has had, in order.
    ///   - known: The names of this program's steps, in order.
    init(done: [String], known: [String]) {
        guard known.starts(with: done) else {
            self = .newer
            return
        }
        self = done.count == known.count ? .current : .older(steps: known.count - done.count)
    }
}

extension SQLiteStorage {
    /// The number of migration steps of this program's schema.
    public static var schema: Int { Migration.all.count }

    /// Returns the message with which this program refuses to open a database that a newer version has written.
    public static func refusalOfNewer(in directory: String, by program: ProgramVersion) throws(StorageError) -> String {
        let connection = try Settings().openReader("\(directory)/\(Settings.databaseName)")
        return try Upgrade(program: program).refusal(in: directory, connection)
    }

    /// Compares the database of a data directory with this program, without changing anything. No server may be using
    /// the directory.
    /// - Throws: `StorageError` if the file cannot be read as a database of this program.
    public static func schemaState(in directory: String) throws(StorageError) -> SchemaState {
        let connection = try Settings().openReader("\(directory)/\(Settings.databaseName)")
        let done = try connection.all("SELECT name FROM migrations ORDER BY position") { $0.text(0) }
        return SchemaState(done: done, known: Migration.all.map(\.name))
    }

    /// Checks the whole database of a data directory without changing anything. No server may be using the directory.
    /// - Returns: The first damage that SQLite finds; nil if there is none.
    /// - Throws: `StorageError` if the file cannot be read as a database.
    public static func damage(in directory: String) throws(StorageError) -> String? {
        let connection = try Settings().openReader("\(directory)/\(Settings.databaseName)")
        let found = try connection.all("PRAGMA integrity_check(1)") { $0.text(0) }
        return found == ["ok"] ? nil : found.first ?? "Nothing can be read."
    }
}
