import MartletCore
import MartletModel

/// Stores and reads the versions that have opened the database, on one connection.
struct VersionTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Returns the names of the migration steps that the database has had; empty if the database is new.
    func steps() throws(StorageError) -> [String] {
        guard try exists("migrations") else { return [] }
        return try connection.all("SELECT name FROM migrations ORDER BY position") { $0.text(0) }
    }

    /// Returns the versions that have opened the database; empty for a database that is older than this table.
    func history() throws(StorageError) -> VersionHistory {
        guard try exists("versions") else { return VersionHistory(entries: []) }
        let entries = try connection.all("SELECT at, version, \"commit\", schema FROM versions ORDER BY rowid") {
            VersionHistory.Entry(
                at: $0.timestamp(0), program: ProgramVersion(version: $0.text(1), commit: $0.text(2)),
                schema: Int($0.integer(3)))
        }
        return VersionHistory(entries: entries)
    }

    /// Records a version, unless it is the last one recorded. Does nothing if the version is empty, or if the database
    /// does not have the table yet.
    func record(_ program: ProgramVersion, schema: Int, at now: Timestamp) throws(StorageError) {
        guard !program.version.isEmpty, try exists("versions"), try history().lacks(program, schema: schema) else {
            return
        }
        try connection.run(
            "INSERT INTO versions (at, version, \"commit\", schema) VALUES (?, ?, ?, ?)", now, program.version,
            program.commit, schema)
    }

    private func exists(_ table: String) throws(StorageError) -> Bool {
        try connection.first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", table) { _ in true }
            ?? false
    }
}
