import MartletCore
import MartletModel
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
                "pages and refusals", "collapse keys", "versions", "followed handles", "operators",
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

    /// What was released is on disks: a change of it would reach new databases alone.
    @Test func stepsThatExistAreNeverChanged() {
        let known =
            [
                ("hubs", 0x64E4_151D_3B06_A3AB),
                ("devices", 0x0B31_323D_324B_58DE),
                ("notifications", 0xFAB0_A629_7EE1_1891),
                ("users", 0xC626_A278_FA52_E571),
                ("jobs", 0x6020_86D8_F5CE_55DA),
                ("payloads", 0xE730_0D7E_E0E4_0300),
                ("receipts", 0x0A84_12CC_7D04_F2F9),
                ("sends", 0x5E33_C336_B95B_8CDB),
                ("pages and refusals", 0x83A3_2AA5_130A_964B),
                ("collapse keys", 0xC7CC_20E5_692D_D246),
                ("versions", 0x14D0_26DE_5A0F_4CEF),
                ("followed handles", 0xAF27_E7A2_B0EB_8E65),
                ("operators", 0x8138_A949_1CDA_91E9),
            ] as [(String, UInt64)]
        for (name, hash) in known {
            let script = Migration.all.first { $0.name == name }?.script ?? ""
            #expect(
                Self.hash(script) == hash,
                "The step '\(name)' was changed; leave it as it was and append a new step.")
        }
        #expect(known.map(\.0) == Migration.all.map(\.name), "Add the hash of the new step.")
    }

    @Test func collapseKeysOfAnOldDatabaseAreKept() async throws {
        let old = try open(Array(Migration.all.prefix(7)))
        let now = Timestamp(seconds: 1_700_000_000)
        let hub = try #require(try await old.createHub(name: "loft", settings: HubSettings(), at: now)).id
        var ids: [Int64] = []
        for number in 0..<3 {
            ids.append(try await Self.insertOldDelivery(number, hub, old))
        }
        try await old.writer.write { [ids] connection throws(StorageError) in
            for (id, expression) in zip(ids, [nil, "a", nil] as [String?]) {
                try connection.run(
                    """
                    INSERT INTO collapses (hub, platform, key, anchor, delivery, expression, last_channel)
                    VALUES (?, 'pigeon', 'k', 'x', ?, ?, 9)
                    """, hub.rawValue, id, expression)
            }
        }
        await old.close()
        let new = try open(Migration.all)
        let rows = try await new.readers.read { connection throws(StorageError) in
            try connection.all("SELECT delivery, expression, is_latest FROM collapses ORDER BY delivery") {
                "\($0.integer(0)) \($0.text(1)) \($0.integer(2))"
            }
        }
        #expect(rows == ["\(ids[0])  0", "\(ids[1]) a 1", "\(ids[2])  1"])
        await new.close()
    }

    private static func insertOldDelivery(
        _ number: Int, _ hub: Hub.ID, _ storage: SQLiteStorage
    ) async throws -> Int64 {
        try await storage.writer.write { connection throws(StorageError) in
            try connection.run(
                """
                INSERT INTO notifications (hub, id, is_confidential, accepted_at, expires_at, states_expiry)
                VALUES (?, ?, 0, 0, 0, 0)
                """, hub.rawValue, [UInt8(number)])
            try connection.run(
                """
                INSERT INTO deliveries (notification, platform, last_channel, last_registration, state, is_final,
                    cursor_channel, cursor_registration, is_fanned_out) VALUES (?, 'pigeon', 9, 9, 'running', 0, 0, 0, 0)
                """, connection.lastInsertedRow)
            return connection.lastInsertedRow
        }
    }

    /// FNV-1a.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
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
