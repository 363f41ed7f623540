import MartletCore
import MartletTesting
import Testing

@testable import MartletPostgres

@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct MigrationTests {
    private let options = TestDatabase.fresh()
    private let patience = Connection.Patience.until(.now + .seconds(60))

    @Test func nodesThatStartTogetherMakeTheSchemaOnce() async throws {
        let options = options
        let storages = try await withThrowingTaskGroup(of: PostgresStorage.self) { group in
            for _ in 0..<4 { group.addTask { try await TestDatabase.open(options) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(try names() == Migration.all.map(\.name))
        for storage in storages { await storage.close() }
    }

    @Test func aSchemaOfANewerVersionIsRefused() async throws {
        try await TestDatabase.open(options).close()
        try run("INSERT INTO migrations VALUES (99, 'something new')")
        await #expect { _ = try await TestDatabase.open(options) } throws: {
            "\($0)".contains("written by a newer version")
                && ($0 as? StorageError).map(PostgresStorage.isNewer) == true
        }
        #expect(try names().last == "something new", "nothing was changed")
    }

    @Test func aSchemaOfAnotherProgramIsRefused() async throws {
        try run("CREATE SCHEMA \"\(options.schema)\"")
        try run("CREATE TABLE ledger (id int8)")
        await #expect { _ = try await TestDatabase.open(options) } throws: {
            "\($0)".contains("belongs to another program")
        }
    }

    @Test func aMigrationThatFailsLeavesNothing() async throws {
        let connection = try TestDatabase.settings(options).connect()
        let broken = Migration(name: "broken", script: "CREATE TABLE half (id int8);\nSELECT 1 / 0;\n")
        #expect(throws: StorageError.self) {
            try Migrator(migrations: Migration.all + [broken], schema: options.schema).migrate(connection, patience)
        }
        try Migrator(migrations: Migration.all, schema: options.schema).migrate(connection, patience)
        #expect(try names() == Migration.all.map(\.name))
    }

    @Test func aDatabaseWhoseDataWasMovedIsRefusedUntilItsMarkIsRemoved() async throws {
        try await TestDatabase.open(options).close()
        try run("UPDATE namespace SET moved_to = 'the directory /data'")
        await #expect { _ = try await TestDatabase.open(options) } throws: {
            "\($0)".contains("was moved to the directory /data")
        }
        try run("UPDATE namespace SET moved_to = NULL")
        try await TestDatabase.open(options).close()
    }

    private func run(_ sql: String) throws {
        try TestDatabase.settings(options).connect().run(Batch(.rare([], sql)), patience)
    }

    private func names() throws -> [String] {
        let connection = try TestDatabase.settings(options).connect()
        let rows = try connection.run(Batch(.rare([], "SELECT name FROM migrations ORDER BY number")), patience)[0]
        return (0..<rows.count).map { rows[$0].text(0) }
    }
}
