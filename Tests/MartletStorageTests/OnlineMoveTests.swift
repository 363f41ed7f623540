import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

struct OnlineMoveTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)
    private let rules = MoveRules(hash: { $0 + [UInt8](repeating: 0, count: 32) }, key: { $1 })

    @Test func everyTableIsReadInTheOrderOfItsKeyWithoutSorting() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        for table in MovedTable.all where table.use != .compared && !["progress", "jobs"].contains(table.name) {
            let query = MoveQuery(orderedByKey: table)
            #expect(!query.key.isEmpty, "\(table.name) has no key")
            let plan = try await storage.readers.read { connection throws(StorageError) in
                try connection.all("EXPLAIN QUERY PLAN \(query.sql)") { $0.text(3) }
            }
            #expect(!plan.contains { $0.contains("FOR ORDER BY") }, "\(table.name): \(plan)")
        }
        await storage.close()
    }

    @Test func changesAreTheRowsThatDifferFromTheCopy() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let kept = try await storage.broadcast(in: hub, at: now)
        let copy = try await storage.copyForMove()
        let source = try OnlineSQLiteMoveSource(storage, copy, rules: rules)
        _ = try await storage.broadcast(in: hub, at: now)
        await storage.stopWriting()
        do {
            _ = try await storage.broadcast(in: hub, at: now)
            Issue.record("It was written although nothing may be.")
        } catch {
            #expect(error.kind == .unavailable)
        }
        let table = try #require(MovedTable.all.first { $0.name == "notifications" })
        var before: Int64 = 0
        try source.readRows(of: table, isForComparison: false) { _ in before += 1 }
        #expect(before == 1)
        try source.advance()
        var (removed, added) = (0, 0)
        try source.readChanges(of: table, read: { _ in }, removed: { _ in removed += 1 }, added: { _ in added += 1 })
        #expect(removed == 0 && added == 1)
        storage.resumeWriting()
        _ = try await storage.broadcast(in: hub, at: now)
        withExtendedLifetime(kept) {}
        await storage.close()
    }
}
