import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

struct ResealingTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)
    private let old: UInt8 = 0x11
    private let new: UInt8 = 0x22

    private func open(key: UInt8, oldKeys: [UInt8] = []) throws -> SQLiteStorage {
        try SQLiteStorage(directory: directory.path, sealer: XORSealer(key: key, oldKeys: oldKeys))
    }

    private func rule(_ name: String) -> AccessRule {
        AccessRule(
            name: name, rights: .send, primaryKey: "\(name)-1", secondaryKey: "\(name)-2", createdAt: now,
            modifiedAt: now)
    }

    /// One secret in every sealed column, several in most, more than a transaction takes in some.
    private func store(in storage: SQLiteStorage, hubs: Int) async throws {
        for number in 0..<hubs {
            var settings = HubSettings(accessRules: [rule("a"), rule("b")])
            settings.credentials = [PlatformID(rawValue: "pigeon"): Credential(["Whistle": "\(number)"])]
            let hub = try #require(try await storage.createHub(name: "hub\(number)", settings: settings, at: now))
            guard number == 0 else { continue }
            let output = try #require(ContainerName("output"))
            let directory = try #require(BlobName("export"))
            let job = Job(
                id: "job", hub: hub.id, kind: .export, outputURL: "https://signed", output: output,
                directory: directory, input: nil,
                createdAt: now)
            try await storage.createJob(job)
        }
        _ = try await storage.setNamespaceRules([rule("root")], replacing: [])
        let draft = PayloadDraft(
            kind: .secure, sender: "alice", content: .text(Array("secret".utf8)), createdAt: now,
            expiresAt: now + .seconds(60))
        guard case .added(let id) = try await storage.addPayload(draft, quota: 1 << 20) else {
            throw StorageError(.unavailable, "a payload was not added")
        }
        try await storage.addAddressees(["bob"], of: id)
        try await storage.publish(id)
        let admin = Operator(name: "ops", roles: RoleGrants([RoleGrant(.admin)]), createdAt: now)
        let link = OperatorLink(tokenHash: [1], kind: .invitation, operatorName: "ops", expiresAt: now + .seconds(60))
        try await storage.invite(admin, by: link)
        #expect(try await storage.beginFactor([1, 2, 3], of: "ops"))
    }

    @Test func everySealedColumnHasSomethingToSeal() async throws {
        let storage = try open(key: old)
        try await store(in: storage, hubs: 1)
        for column in SealedColumn.all {
            let count = try await storage.readers.read { connection throws(StorageError) in
                try column.count(notMarked: [new], on: connection)
            }
            #expect(count > 0, "\(column.table).\(column.column)")
        }
        await storage.close()
    }

    /// By the schema, so that a column that is added later is not forgotten.
    @Test func everyColumnThatIsCalledSealedIsOne() async throws {
        let storage = try open(key: old)
        let columns = try await storage.readers.read { connection throws(StorageError) in
            try connection.all(
                """
                SELECT t.name || '.' || c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
                WHERE t.type = 'table' AND c.name LIKE 'sealed%'
                """
            ) { $0.text(0) }
        }
        #expect(Set(columns) == Set(SealedColumn.all.map { "\($0.table).\($0.column)" }))
        await storage.close()
    }

    @Test func allIsSealedAnewAndNothingElseChanges() async throws {
        let first = try open(key: old)
        try await store(in: first, hubs: 130)
        let hubs = try await first.hubs().map(\.settings)
        #expect(try await first.sealedOtherwise() == 0)
        await first.close()

        let second = try open(key: new, oldKeys: [old])
        #expect(try await second.sealedOtherwise() == 130 * 5 + 2 + 1 + 1 + 1)
        #expect(try await second.reseal(before: .now + .seconds(3600)))
        #expect(try await second.sealedOtherwise() == 0)
        await second.close()

        // Without the old key.
        let third = try open(key: new)
        #expect(try await third.hubs().map(\.settings) == hubs)
        #expect(try await third.namespaceRules() == [rule("root")])
        #expect(try await third.unfinishedJobs().map(\.job.outputURL) == ["https://signed"])
        #expect(try await third.factor(of: "ops")?.secret == [1, 2, 3])
        await third.close()
    }

    @Test func reencryptionInterruptedAnywhereContinues() async throws {
        let first = try open(key: old)
        try await store(in: first, hubs: 30)
        let hubs = try await first.hubs().map(\.settings)
        await first.close()
        // A deadline that has passed stops before each transaction in turn.
        for _ in 0..<3 {
            let second = try open(key: new, oldKeys: [old])
            #expect(try await !second.reseal(before: .now - .seconds(1)))
            #expect(try await second.hubs().map(\.settings) == hubs)
            await second.close()
        }
        let second = try open(key: new, oldKeys: [old])
        let column = try #require(SealedColumn.all.first)
        let rows = try await second.readers.read { connection throws(StorageError) in
            try column.rows(after: .min, notMarked: [new], limit: 7, on: connection)
        }
        let sealer = XORSealer(key: new, oldKeys: [old])
        try await second.writer.write { connection throws(StorageError) in
            for row in rows {
                let secret = sealer.open(row.sealed, context: row.context) ?? []
                try column.replace(row, with: sealer.seal(secret, context: row.context), on: connection)
            }
        }
        #expect(try await second.hubs().map(\.settings) == hubs, "half of one key, half of another")
        #expect(try await second.reseal(before: .now + .seconds(3600)))
        await second.close()
        let third = try open(key: new)
        #expect(try await third.hubs().map(\.settings) == hubs)
        await third.close()
    }

    @Test func rowsChangedMeanwhileAreKept() async throws {
        let storage = try open(key: new, oldKeys: [old])
        try await store(in: storage, hubs: 1)
        let column = try #require(SealedColumn.all.first)
        try await storage.writer.write { connection throws(StorageError) in
            let rows = try column.rows(after: .min, notMarked: [old], limit: 1, on: connection)
            let stale = SealedColumn.Row(id: rows[0].id, sealed: [old, 1, 2], context: rows[0].context)
            try column.replace(stale, with: [0], on: connection)
        }
        #expect(try await storage.hubs().first?.settings.accessRules == [rule("a"), rule("b")])
        await storage.close()
    }

    @Test func aSecretOfAKeyThatIsMissingIsToldAndStays() async throws {
        let first = try open(key: old)
        try await store(in: first, hubs: 1)
        let hubs = try await first.hubs().map(\.settings)
        await first.close()
        let second = try open(key: new)
        await #expect(throws: StorageError.self) { try await second.reseal(before: .now + .seconds(3600)) }
        await second.close()
        let third = try open(key: old)
        #expect(try await third.hubs().map(\.settings) == hubs)
        await third.close()
    }
}
