import Foundation
import MartletCore
import MartletModel
import Synchronization
import Testing

@testable import MartletStorage

struct UpgradeTests {
    private let directory = TemporaryDirectory()

    private func open(
        _ migrations: [Migration] = Migration.all, _ upgrade: Upgrade = Upgrade(), in path: String? = nil
    ) throws -> SQLiteStorage {
        var settings = SQLiteStorage.Settings()
        settings.migrations = migrations
        return try SQLiteStorage(
            directory: path ?? directory.path, sealer: XORSealer(), settings: settings, upgrade: upgrade)
    }

    /// Everything that is on disk after a statement is what a kill there would leave.
    @Test func aKillAfterAnyStatementLeavesTheOldOrTheNewSchema() throws {
        let path = "\(directory.path)/martlet.db"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let connection = try SQLiteStorage.Settings().openWriter(path)
        var found: [[String]] = []
        let migrator = Migrator(
            migrations: Migration.all,
            afterStatement: {
                do {
                    found.append(try Self.stepsAfterAKill(of: path))
                } catch {
                    Issue.record(error)
                }
            })
        try migrator.migrate(connection)
        let names = Migration.all.map(\.name)
        #expect(Set(found) == Set((0...names.count).map { Array(names.prefix($0)) }))
        #expect(found == found.sorted { $0.count < $1.count })
        #expect(found.count > 100)
    }

    private static func stepsAfterAKill(of path: String) throws -> [String] {
        let copy = TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: "\(copy.path)/martlet.db\(suffix)")
        }
        let connection = try SQLiteStorage.Settings().openWriter("\(copy.path)/martlet.db")
        #expect(try connection.all("PRAGMA integrity_check") { $0.text(0) } == ["ok"])
        let steps = try VersionTable(connection).steps()
        try Migrator(migrations: Migration.all).migrate(connection)
        #expect(try VersionTable(connection).steps() == Migration.all.map(\.name))
        return steps
    }

    @Test func anOlderDatabaseIsCopiedOnceAndANewOneIsNot() async throws {
        let copied = Mutex<[[String]]>([])
        let told = Mutex<[Upgrade.Event]>([])
        let upgrade = Upgrade(
            program: ProgramVersion(version: "0.2.0", commit: "a1"), now: Timestamp(seconds: 1_800_000_000),
            copy: { source in copied.withLock { $0.append(source.schema) } },
            report: { event in told.withLock { $0.append(event) } })
        let old = Array(Migration.all.prefix(9))
        try Migration.makeDatabase(old, in: directory.path)
        #expect(copied.withLock(\.self).isEmpty)
        for _ in 0..<2 { try await open(Migration.all, upgrade).close() }
        #expect(copied.withLock(\.self) == [old.map(\.name)])
        let further = Migration.all.dropFirst(9)
        let steps = further.enumerated().map { index, migration in
            Upgrade.Event.step(index + 1, of: further.count, name: migration.name)
        }
        #expect(
            told.withLock(\.self)
                == [.began(from: nil, done: 9, steps: Migration.all.count)] + steps + [.ended])
    }

    @Test func aRefusedCopyLeavesTheDatabaseAsItIs() async throws {
        let old = Array(Migration.all.prefix(9))
        try Migration.makeDatabase(old, in: directory.path)
        let refusing = Upgrade(copy: { _ throws(StorageError) in throw StorageError(.full, "no room") })
        #expect(throws: StorageError.self) { try open(Migration.all, refusing) }
        #expect(try SQLiteStorage.schemaState(in: directory.path) == .older(steps: Migration.all.count - 9))
        try await open(Migration.all).close()
        #expect(try SQLiteStorage.schemaState(in: directory.path) == .current)
    }

    @Test func eachVersionThatOpensTheDatabaseIsRecordedAndTheRefusalNamesIt() async throws {
        let present = Migration.all.count
        for (version, count) in [("0.1.0", present), ("0.1.0", present), ("0.2.0", present + 1)] {
            let migrations = Migration.all + [Migration(name: "future", script: "CREATE TABLE future (a INTEGER)")]
            let program = ProgramVersion(version: version, commit: "c")
            let storage = try open(
                Array(migrations.prefix(count)), Upgrade(program: program, now: Timestamp(seconds: 1_796_083_200)))
            let count = try await storage.readers.read { connection throws(StorageError) in
                try VersionTable(connection).history().entries.count
            }
            #expect(count == (version == "0.1.0" ? 1 : 2))
            await storage.close()
        }
        let copy = "\(directory.path)/backups/before-0.2.0.backup"
        try FileManager.default.createDirectory(
            atPath: "\(directory.path)/backups", withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: copy, contents: nil))
        #expect {
            try open(Migration.all, Upgrade(program: ProgramVersion(version: "0.1.0")))
        } throws: { error in
            (error as? StorageError)?.detail
                == "The database was last written by Martlet 0.2.0 on 2026-12-01; this is 0.1.0. Run 0.2.0, or restore "
                + "\(copy) and lose all later changes."
        }
    }

    @Test func theTimeOfTheLastBackupIsKept() async throws {
        let storage = try open()
        #expect(try await storage.lastBackup() == nil)
        for seconds in [1_800_000_000, 1_800_086_400] as [Int64] {
            try await storage.recordBackup(at: Timestamp(seconds: seconds))
            #expect(try await storage.lastBackup() == Timestamp(seconds: seconds))
        }
        await storage.close()
    }
}
