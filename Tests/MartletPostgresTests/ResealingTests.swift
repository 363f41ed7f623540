import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

/// A new key of the servers seals all secrets anew.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct ResealingTests {
    private let now = Timestamp(seconds: 1_700_000_000)
    private let old: UInt8 = 0x11
    private let new: UInt8 = 0x22

    /// Hides secrets just enough that a test can see with which key they were sealed, and for which context.
    private struct KeySealer: Sealer {
        var key: UInt8
        var oldKeys: [UInt8] = []

        var mark: [UInt8] { [key] }

        func seal(_ secret: [UInt8], context: String) -> [UInt8] {
            mark + Array(context.utf8) + [0] + secret.map { $0 ^ key }
        }

        func open(_ sealed: [UInt8], context: String) -> [UInt8]? {
            guard let key = sealed.first, key == self.key || oldKeys.contains(key) else { return nil }
            let prefix = Array(context.utf8) + [0]
            guard sealed.dropFirst().starts(with: prefix) else { return nil }
            return sealed.dropFirst(1 + prefix.count).map { $0 ^ key }
        }
    }

    private func open(
        _ options: PostgresStorage.Options, key: UInt8, oldKeys: [UInt8] = []
    ) async throws -> PostgresStorage {
        try await PostgresStorage.open(
            try DatabaseAddress(TestCluster.shared?.address ?? ""), sealer: KeySealer(key: key, oldKeys: oldKeys),
            options: options)
    }

    private func rule(_ name: String) -> AccessRule {
        AccessRule(
            name: name, rights: .send, primaryKey: "\(name)-1", secondaryKey: "\(name)-2", createdAt: now,
            modifiedAt: now)
    }

    /// A secret in each place that has one, and as many texts as fill several pages.
    private func store(in storage: PostgresStorage, texts: Int) async throws {
        var settings = HubSettings(accessRules: [rule("a"), rule("b")])
        settings.credentials = [PlatformID(rawValue: "pigeon"): Credential(["Whistle": "1"])]
        let hub = try #require(try await storage.createHub(name: "hub", settings: settings, at: now)).id
        _ = try await storage.createHub(name: "bare", settings: HubSettings(), at: now)
        try await storage.createJob(
            Job(
                id: "job", hub: hub, kind: .export, outputURL: "https://signed",
                output: try #require(ContainerName("output")), directory: try #require(BlobName("export")), input: nil,
                createdAt: now))
        _ = try await storage.setNamespaceRules([rule("root")], replacing: [])
        let draft = PayloadDraft(
            kind: .secure, sender: "alice", content: .text([1]), createdAt: now, expiresAt: now + .seconds(60))
        _ = try await storage.addPayload(draft, quota: .max)
        try await storage.transaction { connection, patience throws(DatabaseFailure) in
            let adding = Statement.rare(
                [.int4, .bytes],
                """
                WITH added AS (
                    INSERT INTO payloads (id, kind, sender, type, content_type, message, size, is_once, created_at,
                        expires_at)
                    SELECT n, 'secure', 'bob', '', '', '', 1500, false, 0, 0 FROM generate_series(1, $1) n
                    ON CONFLICT DO NOTHING RETURNING id
                )
                INSERT INTO payload_texts (payload, sealed)
                SELECT id, $2 || convert_to('payload_texts/' || id, 'UTF8') || decode('00' || repeat('07', 1500), 'hex')
                FROM added
                """)
            try connection.run(
                Batch(adding) {
                    $0.add(Int32(texts))
                    $0.add(storage.sealer.mark)
                }, patience)
        }
        let admin = Operator(name: "ops", roles: RoleGrants([RoleGrant(.admin)]), createdAt: now)
        let link = OperatorLink(tokenHash: [1], kind: .invitation, operatorName: "ops", expiresAt: now + .seconds(60))
        try await storage.invite(admin, by: link)
        #expect(try await storage.beginFactor([1, 2, 3], of: "ops"))
    }

    @Test func allIsSealedAnewAndNothingElseChanges() async throws {
        let options = TestDatabase.fresh()
        let first = try await open(options, key: old)
        try await store(in: first, texts: 600)
        let hubs = try await first.hubs()
        #expect(try await first.sealedOtherwise() == 0)
        await first.close()

        let second = try await open(options, key: new, oldKeys: [old])
        // The hub without secrets has nothing to be sealed.
        #expect(try await second.sealedOtherwise() == 601 + 1 + 1 + 1 + 1 + 1)
        #expect(try await !second.reseal(before: .now - .seconds(1)))
        #expect(try await second.reseal(before: .now + .seconds(3600)))
        #expect(try await second.sealedOtherwise() == 0)
        await second.close()

        // Without the old key.
        let third = try await open(options, key: new)
        _ = try await third.nodes.renew()
        #expect(try await third.hubs().map(\.settings) == hubs.map(\.settings))
        #expect(try await third.hubs().map(\.modifiedAt) == hubs.map(\.modifiedAt))
        #expect(try await third.namespaceRules() == [rule("root")])
        #expect(try await third.unfinishedJobs().map(\.job.outputURL) == ["https://signed"])
        #expect(try await third.factor(of: "ops")?.secret == [1, 2, 3])
        await third.close()
    }

    /// By the schema, so that a column that is added later is not forgotten.
    @Test func everyColumnThatIsCalledSealedIsOne() async throws {
        let options = TestDatabase.fresh()
        try await TestDatabase.with(options) { storage in
            let rows = try await storage.read(
                Batch(
                    .rare(
                        [.text],
                        """
                        SELECT table_name::text || '.' || column_name::text FROM information_schema.columns
                        WHERE table_schema = $1 AND column_name LIKE 'sealed%'
                        """)
                ) { $0.add(options.schema) })[0]
            let columns = (0..<rows.count).map { rows[$0].text(0) }
            #expect(Set(columns) == Set(SealedColumn.all.map { "\($0.table).\($0.column)" }))
        }
    }

    @Test func aMissingKeyIsTold() async throws {
        let options = TestDatabase.fresh()
        let first = try await open(options, key: old)
        try await store(in: first, texts: 1)
        await first.close()
        await #expect(throws: StorageError.self) { _ = try await open(options, key: new) }
        // Where nothing was there to compare with, it is found out by the first secret.
        let both = try await open(options, key: new, oldKeys: [old])
        try await both.transaction { connection, patience throws(DatabaseFailure) in
            _ = try connection.run(Batch(.rare([], "UPDATE namespace SET sealed_check = NULL")), patience)
        }
        await both.close()
        let second = try await open(options, key: new)
        await #expect(throws: StorageError.self) { _ = try await second.reseal(before: .now + .seconds(60)) }
        await second.close()
    }
}
