import MartletCore

/// Migrates the schema of a database to the schema of this program. An advisory lock makes nodes that start together do
/// this one after another.
struct Migrator {
    let migrations: [Migration]
    let schema: String

    /// Runs the steps that have not been run yet, all in one transaction. Until it is committed, nodes of the earlier
    /// version work with the schema that they know.
    /// - Throws: `StorageError` if the schema is of a newer version or of another program.
    func migrate(_ connection: Connection, _ patience: Connection.Patience) throws(StorageError) {
        do throws(StorageError) {
            try runAll(connection, patience)
        } catch {
            // If the connection is broken, the server ends the transaction by itself. So a failure of this ROLLBACK can
            // be ignored.
            _ = try? connection.run(Batch(.rollback), patience)
            throw error
        }
    }

    private func runAll(_ connection: Connection, _ patience: Connection.Patience) throws(StorageError) {
        // Waits up to a minute for the migration of another node, but only two seconds for a lock on a table, because
        // all later transactions on the table would wait behind this one.
        try run(Batch(.begin).adding(Self.limit) { $0.add("60s") }, connection, patience)
        try run(Batch(Self.lock) { $0.add(lockKey) }, connection, patience)
        try run(
            Batch(Self.limit) { $0.add("2s") }.adding(Self.makeSchema(schema)), connection, patience)
        let done = try self.done(connection, patience)
        if let fault = fault(of: done) { throw fault }
        // The protocol takes one statement at a time. The statements are sent in one batch, because waiting for the
        // answer to each would take minutes on a busy machine.
        var batch = Batch()
        for (number, migration) in migrations.enumerated().dropFirst(done.count) {
            for statement in Self.statements(of: migration.script) { batch.add(.rare([], statement)) }
            batch.add(Self.record) {
                $0.add(Int32(number + 1))
                $0.add(migration.name)
            }
        }
        batch.add(.commit)
        try run(batch, connection, patience)
    }

    /// The schema of a database, compared with the schema of this program.
    enum State: Equatable {
        /// There is no schema yet.
        case none
        case current
        /// The schema is of an earlier version. The value is the number of steps that have not been run yet.
        case older(Int)
        /// This program cannot use the schema. The error says why.
        case unusable(StorageError)

        /// Whether the schema has the tables of this program or of an earlier version.
        var isUsable: Bool {
            switch self {
            case .current, .older: true
            case .none, .unusable: false
            }
        }
    }

    /// Examines the schema without changing it.
    func state(_ connection: Connection, _ patience: Connection.Patience) throws(DatabaseFailure) -> State {
        let found = try connection.run(Batch(Self.tables) { $0.add(schema) }, patience)[0]
        let tables = (0..<found.count).map { found[$0].text(0) }
        guard tables.contains("migrations") else {
            return tables.isEmpty ? .none : .unusable(Self.foreign(schema))
        }
        let rows = try connection.run(Batch(Self.names), patience)[0]
        let done = (0..<rows.count).map { rows[$0].text(0) }
        if let fault = fault(of: done) { return .unusable(fault) }
        return done.count == migrations.count ? .current : .older(migrations.count - done.count)
    }

    private func fault(of done: [String]) -> StorageError? {
        guard !migrations.starts(with: done, by: { $0.name == $1 }) else { return nil }
        return done.starts(with: migrations, by: { $0 == $1.name }) ? Self.newer : Self.foreign(schema)
    }

    /// The number of the lock for changes of the schema. Nodes cannot start while another transaction holds this lock.
    var lockKey: Int64 { "\(schema)\u{0}migrations".utf8.reduce(Int64(0x6D61_7274)) { $0 &* 31 &+ Int64($1) } }

    /// The statements that make the whole schema in a database that has none.
    var creation: [String] {
        let records = migrations.enumerated().map { number, migration in
            "INSERT INTO migrations (number, name) VALUES (\(number + 1), '\(migration.name)')"
        }
        return [Self.makeSchema(schema).sql, Self.makeMigrations.sql]
            + migrations.flatMap { Self.statements(of: $0.script) } + records
    }

    /// Splits a script at its semicolons. No text in a script contains a semicolon.
    static func statements(of script: String) -> [String] {
        script.split(separator: ";").map(String.init).filter { $0.contains { !$0.isWhitespace } }
    }

    private func done(_ connection: Connection, _ patience: Connection.Patience) throws(StorageError) -> [String] {
        let found = try run(Batch(Self.tables) { $0.add(schema) }, connection, patience)[0]
        let tables = (0..<found.count).map { found[$0].text(0) }
        guard tables.contains("migrations") else {
            guard tables.isEmpty else { throw Self.foreign(schema) }
            try run(Batch(Self.makeMigrations), connection, patience)
            return []
        }
        let rows = try run(Batch(Self.names), connection, patience)[0]
        return (0..<rows.count).map { rows[$0].text(0) }
    }

    @discardableResult
    private func run(
        _ batch: Batch, _ connection: Connection, _ patience: Connection.Patience
    ) throws(StorageError) -> [Rows] {
        do throws(DatabaseFailure) {
            return try connection.run(batch, patience)
        } catch {
            throw error.storageError
        }
    }

    /// Limits how long statements of this transaction wait for locks. A statement may run for a minute.
    private static let limit = Statement.rare(
        [.text], "SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', '60s', true)")
    static let lock = Statement.rare([.int8], "SELECT pg_advisory_xact_lock($1)")
    private static let tables = Statement.rare(
        [.text], "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 ORDER BY 1")
    private static let makeMigrations = Statement.rare(
        [], "CREATE TABLE migrations (number int4 PRIMARY KEY, name text NOT NULL UNIQUE)")
    private static let names = Statement.rare([], "SELECT name FROM migrations ORDER BY number")
    private static let record = Statement.rare(
        [.int4, .text], "INSERT INTO migrations (number, name) VALUES ($1, $2)")

    private static func makeSchema(_ schema: String) -> Statement {
        .rare([], "CREATE SCHEMA IF NOT EXISTS \"\(schema)\"")
    }

    /// The error of a schema of a newer version. It does not pass by itself.
    static let newer = StorageError(
        .unavailable,
        "The database was written by a newer version of this program; run that version, or restore a backup.")

    private static func foreign(_ schema: String) -> StorageError {
        StorageError(
            .corrupt,
            "The schema '\(schema)' of the database belongs to another program; name another database in the address.")
    }
}

extension Batch {
    fileprivate func adding(_ statement: Statement, _ fill: (inout Parameters) -> Void = { _ in }) -> Batch {
        var batch = self
        batch.add(statement, fill)
        return batch
    }
}
