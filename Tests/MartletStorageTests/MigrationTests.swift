import MartletCore
import Testing

@testable import MartletStorage

struct MigrationTests {
    private let directory = TemporaryDirectory()

    private func open(_ migrations: [Migration]) throws -> SQLiteStorage {
        var settings = SQLiteStorage.Settings()
        settings.migrations = migrations
        return try SQLiteStorage(directory: directory.path, sealer: XORSealer(), settings: settings)
    }

    private func names(_ storage: SQLiteStorage) async throws -> [String] {
        try await storage.readers.read { connection throws(StorageError) in
            try connection.all("SELECT name FROM migrations ORDER BY position") { $0.text(0) }
        }
    }

    @Test func namesAreUniqueAndInTheOrderOfRelease() {
        #expect(
            Migration.all.map(\.name) == [
                "hubs", "devices", "notifications", "users", "jobs", "payloads", "receipts", "sends",
                "pages and refusals",
            ])
    }

    @Test func aNewStepIsRunOnAnOldDatabaseAndOnlyOnce() async throws {
        let old = try open(Migration.all)
        await old.close()
        let step = Migration(name: "extra", script: "CREATE TABLE extra (number INTEGER) STRICT")
        for _ in 0..<2 {
            let new = try open(Migration.all + [step])
            #expect(try await names(new) == Migration.all.map(\.name) + ["extra"])
            await new.close()
        }
    }

    @Test func aStepThatFailsLeavesNothingAndCanBeRunLater() async throws {
        let broken = Migration(name: "extra", script: "CREATE TABLE extra (number INTEGER); SELECT * FROM nowhere;")
        #expect(throws: StorageError.self) { try open(Migration.all + [broken]) }
        let mended = Migration(name: "extra", script: "CREATE TABLE extra (number INTEGER) STRICT")
        let storage = try open(Migration.all + [mended])
        #expect(try await names(storage).last == "extra")
        await storage.close()
    }

    @Test func aNewerDatabaseIsRefusedWithASentence() async throws {
        let new = try open(Migration.all + [Migration(name: "future", script: "CREATE TABLE future (a INTEGER)")])
        await new.close()
        #expect {
            try open(Migration.all)
        } throws: { error in
            let error = error as? StorageError
            return error?.kind == .unavailable && error?.detail.contains("newer version") == true
        }
    }
}
