import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

/// What installations and templates leave behind: nothing, once it is forgotten what they were.
struct ContentTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)
    private let platform = PlatformID(rawValue: "pigeon")

    private func open() async throws -> (SQLiteStorage, Hub.ID) {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        return (storage, try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id)
    }

    private func draft(_ handle: String, _ body: String? = nil, name: String? = nil) throws -> RegistrationDraft {
        RegistrationDraft(
            platform: platform, handle: PushHandle(handle), handleKey: handle, tags: [try Tag("x")],
            template: body.map { Template(body: $0) }, pushVariables: name.map { ["name": $0] } ?? [:])
    }

    private func put(_ draft: RegistrationDraft, _ id: String, in hub: Hub.ID, of storage: SQLiteStorage) async throws {
        _ = try await storage.apply(.put(draft, id: id, condition: .none), in: hub, at: now).get()
    }

    private func put(
        _ id: String, _ drafts: [RegistrationDraft], in hub: Hub.ID, of storage: SQLiteStorage,
        expiresAt: Timestamp? = nil
    ) async throws {
        let rows = drafts.enumerated().map { InstallationRow(slot: "\($0)", registration: $1) }
        let draft = InstallationDraft(id: id, document: [], expiresAt: expiresAt, rows: rows)
        _ = try await storage.apply(InstallationChange.put(draft, condition: .none), in: hub, at: now).get()
    }

    private func count(_ table: String, of storage: SQLiteStorage) async throws -> Int64? {
        try await storage.readers.read { connection throws(StorageError) in
            try connection.first("SELECT count(*) FROM \(table)") { $0.integer(0) }
        }
    }

    private func uses(of storage: SQLiteStorage) async throws -> [Int64] {
        try await storage.readers.read { connection throws(StorageError) in
            try connection.all("SELECT uses FROM contents ORDER BY id") { $0.integer(0) }
        }
    }

    private static let tables = [
        "registrations", "channels", "tag_members", "tags", "contents", "installations", "dead_slots",
    ]

    @Test func aContentIsStoredOnceAndGoesWithItsLastUse() async throws {
        let (storage, hub) = try await open()
        for number in 0..<3 { try await put(draft("h", "body", name: "Ann"), "\(number)", in: hub, of: storage) }
        #expect(try await uses(of: storage) == [3, 3])
        try await put(draft("h", "body", name: "Ann"), "0", in: hub, of: storage)
        #expect(try await uses(of: storage) == [3, 3], "the same again")
        try await put(draft("h", "other", name: "Ann"), "0", in: hub, of: storage)
        #expect(try await uses(of: storage) == [3, 4, 1], "what it was counts as well")
        try await put(draft("h"), "0", in: hub, of: storage)
        #expect(try await uses(of: storage) == [3, 4, 1])
        for id in ["1", "2"] {
            _ = try await storage.apply(RegistrationChange.delete(id: id, condition: .none), in: hub, at: now).get()
        }
        #expect(try await uses(of: storage) == [3, 4, 1])
        let end = now + .seconds(31 * 86_400)
        try await storage.sweep(at: Timestamp(milliseconds: end.milliseconds - 1))
        #expect(try await uses(of: storage) == [3, 4, 1])
        try await storage.sweep(at: end)
        #expect(try await uses(of: storage) == [])
        #expect(try await storage.past(of: "0", in: hub).knownSince == 4)
        await storage.close()
    }

    @Test func anExpiredInstallationGoesWithItsRowsAndLeavesNothing() async throws {
        let (storage, hub) = try await open()
        let end = now + .seconds(1)
        let rows = try [draft("a"), draft("a", "body", name: "Ann"), draft("b", "body")]
        for id in ["1", "2"] { try await put(id, rows, in: hub, of: storage, expiresAt: end) }
        let channels = try await storage.audience(
            AudienceQuery(
                hub: hub, platform: platform, expression: nil, throughChannel: ChannelID(rawValue: .max), limit: 9,
                now: now
            )
        ).members.map(\.channel)
        _ = try await storage.apply(
            channels.map { ChannelFeedback(channel: $0, kind: .gone(asOf: nil)) }, in: hub, at: now)
        #expect(try await count("dead_slots", of: storage) == 4)
        try await storage.sweep(at: now)
        #expect(try await count("installations", of: storage) == 2, "not yet")
        try await storage.sweep(at: end)
        #expect(try await count("installations", of: storage) == 0)
        #expect(try await count("registration_history", of: storage) == 6)
        try await storage.sweep(at: end + .seconds(31 * 86_400))
        for table in Self.tables + ["tombstones", "registration_history"] {
            #expect(try await count(table, of: storage) == 0, "\(table)")
        }
        await storage.close()
    }

    @Test func aDeletedHubTakesInstallationsAndContentsAlong() async throws {
        let (storage, hub) = try await open()
        for number in 0..<1100 {
            try await put(draft("h\(number)", "\(number)", name: "Ann"), "\(number)", in: hub, of: storage)
        }
        try await put("i", [draft("h1"), draft("h2", "body")], in: hub, of: storage)
        try await put(draft("h1"), "1", in: hub, of: storage)
        #expect(try await storage.deleteHub(hub))
        for table in Self.tables + ["tombstones", "registration_history", "hubs"] {
            #expect(try await count(table, of: storage) == 0, "\(table)")
        }
        await storage.close()
    }

    @Test func howFarATemplateSendReachesIsKnownForEachHub() async throws {
        let (storage, hub) = try await open()
        let other = try #require(try await storage.createHub(name: "other", settings: HubSettings(), at: now)).id
        try await put(draft("h", "body"), "1", in: hub, of: storage)
        var parrot = try draft("h", "body")
        parrot.platform = PlatformID(rawValue: "parrot")
        try await put(parrot, "2", in: hub, of: storage)
        var owl = try draft("h")
        owl.platform = PlatformID(rawValue: "owl")
        try await put(owl, "3", in: other, of: storage)
        let found = try await storage.readers.read { connection throws(StorageError) in
            let table = TagTable(connection)
            return try [hub, other].map { hub throws(StorageError) in
                (try table.lastRegistration(hub: hub), try table.templatePlatforms(hub: hub).map(\.rawValue))
            }
        }
        #expect(found[0].0 == 2)
        #expect(found[0].1 == ["parrot", "pigeon"])
        #expect(found[1].0 == 3)
        #expect(found[1].1 == [])
        await storage.close()
    }
}
