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
        let copy = try await storage.copyForMove { true }
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

    @Test func aCopyIsGivenUpAndLeavesRoomForTheNext() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        await #expect(throws: StorageError.self) { _ = try await storage.copyForMove { false } }
        _ = try await storage.copyForMove { true }
        await storage.close()
    }

    @Test func readingAProgressMapLeavesRoomForAllMembers() async throws {
        let last: Int64 = 1_000_000
        let member = { AudienceMember(channel: ChannelID(rawValue: $0)) }
        var storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let delivery = try await storage.broadcast(in: hub, at: now).id
        try await storage.writer.write { connection throws(StorageError) in
            try connection.execute("UPDATE deliveries SET last_channel = \(last)")
        }
        try storage.progressMaps.map(for: delivery, through: last, expecting: 1).insert(member(last))
        await storage.close()
        // The next process knows the slot, but not its map.
        storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let source = try OnlineSQLiteMoveSource(storage, try await storage.copyForMove { true }, rules: rules)
        let table = try #require(MovedTable.all.first { $0.name == "progress" })
        try source.advance()
        var rows = 0
        try source.readRows(of: table, isForComparison: false) { _ in rows += 1 }
        #expect(rows == 1)
        // The move fails, and more devices are reached than the slot has room for.
        let numbers = (0...Int64(ProgressSlot.capacity)).map { last - $0 }
        let map = try storage.progressMaps.map(for: delivery, through: last, expecting: nil)
        for number in numbers { map.insert(member(number)) }
        await storage.close()
        storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let reopened = try storage.progressMaps.map(for: delivery, through: last, expecting: nil)
        #expect(numbers.allSatisfy { reopened.contains(member($0)) })
        await storage.close()
    }
}
