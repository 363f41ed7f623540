import MartletCore

/// One step of a schema migration.
struct Migration: Sendable {
    /// A unique name, which is recorded in the database.
    var name: String
    var script: String
}

/// Migrates a database to the schema of this program.
struct Migrator {
    let migrations: [Migration]
    /// Called when a step begins, with the step's number, starting at 1, and its name.
    private let report: (Int, String) -> Void
    /// Called after each statement of a step, and after the end of the step's transaction.
    private let afterStatement: () -> Void

    init(
        migrations: [Migration], report: @escaping (Int, String) -> Void = { _, _ in },
        afterStatement: @escaping () -> Void = {}
    ) {
        self.migrations = migrations
        self.report = report
        self.afterStatement = afterStatement
    }

    /// Runs the steps that have not been run yet, each in a transaction of its own.
    /// - Throws: `StorageError` if the database is of a newer version or of another program.
    func migrate(_ connection: Connection) throws(StorageError) {
        try checkApplication(connection)
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (position INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT")
        let done = try connection.all("SELECT name FROM migrations ORDER BY position") { $0.text(0) }
        guard migrations.starts(with: done, by: { $0.name == $1 }) || done.isEmpty else {
            throw StorageError(
                .unavailable,
                "The database was written by a newer version of this program; run that version, or restore a backup.")
        }
        for (position, migration) in migrations.enumerated().dropFirst(done.count) {
            report(position + 1, migration.name)
            try run(migration, position: position, on: connection)
        }
    }

    private func run(_ migration: Migration, position: Int, on connection: Connection) throws(StorageError) {
        do throws(StorageError) {
            try connection.execute("BEGIN IMMEDIATE")
            try connection.execute(migration.script, afterEach: afterStatement)
            try connection.run("INSERT INTO migrations (position, name) VALUES (?, ?)", position, migration.name)
            try connection.execute("COMMIT")
            afterStatement()
        } catch {
            if connection.isInTransaction { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// The number in the file's header that marks a database as belonging to this program: "MRTL".
    private static let applicationID: Int64 = 0x4D52_544C

    private func checkApplication(_ connection: Connection) throws(StorageError) {
        let found = try connection.first("PRAGMA application_id") { $0.integer(0) }
        if found == Self.applicationID { return }
        let tables = try connection.first("SELECT count(*) FROM sqlite_schema") { $0.integer(0) }
        guard found == 0, tables == 0 else {
            throw StorageError(.corrupt, "The file is a database of another program; choose another data directory.")
        }
        try connection.execute("PRAGMA application_id = \(Self.applicationID)")
    }
}
