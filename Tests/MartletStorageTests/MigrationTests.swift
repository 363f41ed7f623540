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
                "pages and refusals", "collapse keys", "versions", "followed handles", "parts",
                "operators", "backend hub", "authors", "operator factors", "campaigns", "page records",
                "operator identities", "long notifications",
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
                ("parts", 0x26A4_1B13_8FC8_0B77),
                ("operators", 0x8138_A949_1CDA_91E9),
                ("backend hub", 0xD396_5596_93D4_452A),
                ("authors", 0xBC20_6B5F_B1C4_4BC2),
                ("operator factors", 0x63C1_1744_BE83_6E61),
                ("campaigns", 0xCD65_E641_2D64_893B),
                ("page records", 0x2505_6DD9_7A29_FC25),
                ("operator identities", 0x2701_3C7F_3DC0_325B),
                ("long notifications", 0x71EC_8277_20A5_7BED),
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
        var ids: [Int64] = []
        try Migration.makeDatabase(Array(Migration.all.prefix(7)), in: directory.path) {
            connection throws(StorageError) in
            try Self.insertOldHub(connection)
            for (number, expression) in ([nil, "a", nil] as [String?]).enumerated() {
                let id = try Self.insertOldDelivery(number, connection)
                ids.append(id)
                try connection.run(
                    """
                    INSERT INTO collapses (hub, platform, key, anchor, delivery, expression, last_channel)
                    VALUES (1, 'pigeon', 'k', 'x', ?, ?, 9)
                    """, id, expression)
            }
        }
        let new = try open(Migration.all)
        let rows = try await new.readers.read { connection throws(StorageError) in
            try connection.all("SELECT delivery, expression, is_latest FROM collapses ORDER BY delivery") {
                "\($0.integer(0)) \($0.text(1)) \($0.integer(2))"
            }
        }
        #expect(rows == ["\(ids[0])  0", "\(ids[1]) a 1", "\(ids[2])  1"])
        await new.close()
    }

    /// The step of parts finds a roll-out and a delivery of an earlier version, which are whole and no canary.
    @Test func deliveriesFromBeforePartsExistedAreOnePart() async throws {
        try Migration.makeDatabase(Array(Migration.all.prefix(12)), in: directory.path) {
            connection throws(StorageError) in
            try Self.insertOldHub(connection)
            _ = try Self.insertOldDelivery(1, connection, state: "Processing")
            try connection.run(
                "INSERT INTO messages (notification, body, fields) VALUES (1, ?, ?)", [1] as [UInt8], [] as [UInt8])
            try connection.run(
                "INSERT INTO rollouts (notification, rate, halt_share, halt_answers) VALUES (1, 500, 200, 100)")
        }
        let new = try open(Migration.all)
        let found = try await new.unfinished(after: .none, limit: 9)
        #expect(found.map(\.delivery.part) == [nil])
        #expect(found.map(\.delivery.notification.rollout) == [Rollout(.rate(500), halt: Rollout.Halt(share: 200))])
        #expect(try await new.hubs().map(\.settings.sending) == [SendingSettings()])
        #expect(try await new.nextDue() == nil)
        await new.close()
    }

    /// Rows of an earlier version are read beside the values of pages.
    @Test func refusalsOfAnOldDatabaseAreKept() async throws {
        try Migration.makeDatabase(Array(Migration.all.prefix(15)), in: directory.path) {
            connection throws(StorageError) in
            try Self.insertOldHub(connection)
            _ = try Self.insertOldDelivery(1, connection, state: "Processing")
            try connection.run(
                "INSERT INTO messages (notification, body, fields) VALUES (1, ?, ?)", [1] as [UInt8], [] as [UInt8])
            for channel in [3, 9] {
                try connection.run(
                    """
                    INSERT INTO refusals (delivery, channel, registration, handle, registration_id, outcome, reason,
                        refused_at, attempts, fate) VALUES (1, ?, 0, 'h', 'old', 'BadChannel', 'x', 5, 1, 'kept')
                    """, channel)
                try connection.run(
                    """
                    INSERT INTO attempts (delivery, channel, registration, made_at, number, outcome, reason, fate)
                    VALUES (1, ?, 0, 4, 1, 'Throttled', 'Storm', 'kept')
                    """, channel)
            }
        }
        let new = try open(Migration.all)
        let delivery = try #require(try await new.unfinished(after: .none, limit: 9).first).delivery
        let members = [3, 5, 7, 9].map { AudienceMember(channel: ChannelID(rawValue: $0)) }
        let range = RangeRecord(
            last: members[2], snapshot: .none, startedAt: Timestamp(seconds: 0), endedAt: Timestamp(seconds: 0))
        try await new.record(
            DeliveryStep(
                delivery: delivery.id, isFannedOut: true, state: .processing,
                refusals: members[1...2].map {
                    Refusal(
                        member: $0, handle: PushHandle("h"), outcome: .wrongToken, reason: "y",
                        at: Timestamp(seconds: 1))
                }, range: range))
        let page = try await new.refusals(
            of: delivery.notification.id, in: delivery.notification.hub, after: .start, limit: 9)
        #expect(page.records.map(\.outcome) == [.badChannel, .wrongToken, .wrongToken, .badChannel])
        #expect(page.records.map(\.registration) == ["old", nil, nil, "old"])
        let evidence = try #require(try await new.evidence(of: members, in: delivery.id))
        #expect(members.map { evidence.members[$0]?.attempts.count } == [1, 0, 0, 1])
        #expect(members.map { evidence.members[$0]?.refusal?.reason } == ["x", "y", "y", "x"])
        await new.close()
    }

    /// The hub with the number 1.
    /// The app backend of an earlier version used the only hub, and none of several.
    @Test(arguments: [["loft"], ["loft", "shop"], []])
    func theBackendKeepsTheOnlyHubOfAnOldDatabase(hubs: [String]) async throws {
        try Migration.makeDatabase(Array(Migration.all.prefix(14)), in: directory.path) {
            connection throws(StorageError) in
            for name in ["gone"] + hubs {
                try connection.run(
                    "INSERT INTO hubs (name, folded_name, created_at, modified_at) VALUES (?1, ?1, 0, 0)", name)
            }
            try connection.run("UPDATE hubs SET is_deleted = 1 WHERE name = 'gone'")
        }
        let new = try open(Migration.all)
        let old = try await new.hubs().map(\.id)
        #expect(try await new.backendHub() == (old.count == 1 ? old[0] : nil))
        // A second hub does not change it, and one of several that was left alone is kept.
        if old.count == 2 { _ = try await new.deleteHub(old[1]) }
        let created = try await new.createHub(name: "new", settings: HubSettings(), at: Timestamp(seconds: 0))
        let made = try #require(created)
        #expect(try await new.backendHub() == old.first ?? made.id)
        await new.close()
    }

    private static func insertOldHub(_ connection: Connection) throws(StorageError) {
        try connection.run(
            "INSERT INTO hubs (name, folded_name, created_at, modified_at) VALUES ('loft', 'loft', 0, 0)")
    }

    private static func insertOldDelivery(
        _ number: Int, _ connection: Connection, state: String = "running"
    ) throws(StorageError) -> Int64 {
        let id = [UInt8](repeating: UInt8(number), count: 16)
        try connection.run(
            """
            INSERT INTO notifications (hub, id, platform, is_confidential, accepted_at, expires_at, states_expiry, begun_at)
            VALUES (1, ?, 'pigeon', 0, 0, 0, 0, 0)
            """, id)
        try connection.run(
            """
            INSERT INTO deliveries (notification, platform, last_channel, last_registration, state, is_final,
                cursor_channel, cursor_registration, is_fanned_out) VALUES (?, 'pigeon', 9, 9, ?, 0, 0, 0, 0)
            """, connection.lastInsertedRow, state)
        return connection.lastInsertedRow
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
