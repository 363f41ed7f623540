public import MartletCore
public import MartletModel

/// Upgrades the database of a data directory to the schema of this program.
public struct Upgrade: Sendable {
    /// An event that an upgrade reports while it runs.
    public enum Event: Hashable, Sendable {
        /// The upgrade begins. The database has already had `done` of `steps` steps. `from` is the version that opened
        /// it last; nil if unknown.
        case began(from: ProgramVersion?, done: Int, steps: Int)
        /// A step begins. The steps of this upgrade are numbered from 1.
        case step(Int, of: Int, name: String)
        case ended
    }

    public var program: ProgramVersion
    public var now: Timestamp
    /// Copies the database before the first step of an upgrade; nil if no copy is made.
    public var copy: (@Sendable (UpgradeSource) throws(StorageError) -> Void)?
    public var report: @Sendable (Event) -> Void

    public init(
        program: ProgramVersion = ProgramVersion(), now: Timestamp = Timestamp(seconds: 0),
        copy: (@Sendable (UpgradeSource) throws(StorageError) -> Void)? = nil,
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.program = program
        self.now = now
        self.copy = copy
        self.report = report
    }

    /// The name of the directory, in the data directory, for the copies that are made before upgrades.
    public static let folder = "backups"

    /// Returns the name of the copy that is made before a version upgrades the database.
    public static func copyName(before version: String) -> String { "before-\(version).backup" }

    /// Opens the database for writing, after running the steps that the database has not had.
    /// - Throws: `StorageError` if the database is of a newer version, or cannot be copied first.
    func open(
        in directory: StorageDirectory, _ settings: SQLiteStorage.Settings, _ migrations: [Migration]
    ) throws(StorageError) -> sending Connection {
        let path = directory.file(SQLiteStorage.Settings.databaseName)
        if let source = try source(in: directory, settings, migrations) { try copy?(source) }
        let connection = try settings.openWriter(path)
        let versions = VersionTable(connection)
        let done = try versions.steps().count
        let isUpgrade = done > 0 && done < migrations.count
        if isUpgrade {
            report(
                .began(from: try versions.history().entries.last?.program, done: done, steps: migrations.count))
        }
        // The version is recorded before the first step, so that an interrupted upgrade is recognized by its version.
        if isUpgrade { try versions.record(program, schema: migrations.count, at: now) }
        try Migrator(migrations: migrations) { number, name in
            if isUpgrade { report(.step(number - done, of: migrations.count - done, name: name)) }
        }.migrate(connection)
        try versions.record(program, schema: migrations.count, at: now)
        if isUpgrade { report(.ended) }
        return connection
    }

    /// Returns the files to copy before an upgrade; nil if there is nothing to copy. The database is closed again
    /// before this function returns.
    private func source(
        in directory: StorageDirectory, _ settings: SQLiteStorage.Settings, _ migrations: [Migration]
    ) throws(StorageError) -> UpgradeSource? {
        let path = directory.file(SQLiteStorage.Settings.databaseName)
        let mayBeInterrupted: Bool
        let done: [String]
        do {
            let connection = try settings.openReader(path)
            let versions = VersionTable(connection)
            done = try versions.steps()
            let history = try versions.history()
            guard migrations.starts(with: done, by: { $0.name == $1 }) else {
                throw StorageError(.unavailable, refusal(history, in: directory.path, schema: migrations.count))
            }
            guard copy != nil, !done.isEmpty, done.count < migrations.count else { return nil }
            mayBeInterrupted = history.mayBeInterrupted(program, done: done.count)
        }
        // Transfers the log into the database file, so that this file contains all data.
        let isBusy = try settings.openWriter(path).first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.bool(0) }
        guard isBusy == false else {
            throw StorageError(.unavailable, "Another program reads '\(path)': end it before the upgrade.")
        }
        return try UpgradeSource(directory, schema: done, mayBeInterrupted: mayBeInterrupted)
    }

    private func refusal(_ history: VersionHistory, in directory: String, schema: Int) -> String {
        history.refusal(of: program, schema: schema) { version in
            let copy = "\(directory)/\(Self.folder)/\(Self.copyName(before: version))"
            return StorageDirectory.exists(copy) ? copy : nil
        }
    }

    /// Returns the message with which this program refuses to open a database that a newer version has written.
    func refusal(in directory: String, _ connection: Connection) throws(StorageError) -> String {
        refusal(try VersionTable(connection).history(), in: directory, schema: Migration.all.count)
    }
}
