import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct GroupCommitTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    private func draft(_ handle: String, takesHandle: Bool = false) -> RegistrationDraft {
        RegistrationDraft(
            platform: PlatformID(rawValue: "pigeon"), handle: PushHandle(handle), handleKey: handle, tags: [],
            takesHandle: takesHandle)
    }

    private func put(
        _ id: String, _ handle: String, takesHandle: Bool = false, in hub: Hub.ID, of storage: PostgresStorage
    ) async throws -> Registration {
        let change = RegistrationChange.put(draft(handle, takesHandle: takesHandle), id: id, condition: .none)
        return try await storage.apply(change, in: hub, at: now).get()
    }

    @Test func whatWaitsForAHubIsOneTransaction() async throws {
        try await TestDatabase.with { storage in
            let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
            _ = try await put("first", "first", in: hub, of: storage)
            let before = storage.devices.counts.commits
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask { _ = try await put("\(number)", "h\(number)", in: hub, of: storage) }
                }
                try await group.waitForAll()
            }
            #expect(storage.devices.counts.commits - before < 100, "200 callers shared transactions")
            let count = try await storage.audienceCount(AudienceCountQuery(hub: hub, expression: nil, now: now))
            #expect(count.registrations == 201)
        }
    }

    @Test func nodesThatWriteTheSameSeeEachOther() async throws {
        let options = TestDatabase.fresh()
        let nodes = [try await TestDatabase.open(options), try await TestDatabase.open(options)]
        let hub = try #require(try await nodes[0].createHub(name: "loft", settings: HubSettings(), at: now)).id
        // Forty people take one phone from each other, and each of ten rows is written by both nodes.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                let node = nodes[number % 2]
                group.addTask { _ = try await put("taker\(number)", "phone", takesHandle: true, in: hub, of: node) }
                group.addTask { _ = try await put("row\(number / 4)", "h\(number / 4)", in: hub, of: node) }
            }
            try await group.waitForAll()
        }
        let page = try await nodes[0].registrations(RegistrationQuery(hub: hub, filter: .all, limit: 100, now: now))
        #expect(page.registrations.count { $0.handle == PushHandle("phone") } == 1, "a handle has one taker")
        #expect(page.registrations.filter { $0.id.hasPrefix("row") }.map(\.version) == .init(repeating: 4, count: 10))
        for (node, other) in zip(nodes, nodes.reversed()) {
            let past = try await node.past(of: "taker0", in: hub)
            #expect(past.versions.count == 1)
            let snapshots = [try await node.snapshot(of: hub), try await other.snapshot(of: hub)]
            #expect(snapshots[0] == snapshots[1])
        }
        for node in nodes { await node.close() }
    }

    @Test func aWriteThatCannotBeStoredFailsAlone() async throws {
        try await TestDatabase.with { storage in
            let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
            _ = try await put("first", "first", in: hub, of: storage)
            // An id of more than an index can hold, in letters that do not compress.
            let endless = (0..<600).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
            let stored = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let id = number == 7 ? endless : "\(number)"
                        return (try? await put(id, "h\(number)", in: hub, of: storage)) != nil
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(stored == 19)
        }
    }

    @Test func aHubThatIsRemovedWhileItIsWrittenTakesNothingMore() async throws {
        try await TestDatabase.with { storage in
            let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
            async let removed = storage.deleteHub(hub)
            for number in 0..<20 { _ = try? await put("\(number)", "h\(number)", in: hub, of: storage) }
            #expect(try await removed)
            await #expect(throws: RegistrationRefusal.notFound) { try await put("late", "late", in: hub, of: storage) }
            #expect(
                try await storage.audience(
                    AudienceQuery(
                        hub: hub, platform: PlatformID(rawValue: "pigeon"), expression: nil,
                        throughChannel: ChannelID(rawValue: .max), limit: 10, now: now)
                ).count == 0)
        }
    }

    @Test func closingFinishesWhatWaits() async throws {
        let storage = try await TestDatabase.open(TestDatabase.fresh())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        _ = try await put("first", "first", in: hub, of: storage)
        let writes = (0..<20).map { number in Task { try await put("\(number)", "h\(number)", in: hub, of: storage) } }
        // All may have been written before any was seen to wait.
        for _ in 0..<10_000 where storage.devices.waitingCount == 0 { await Task.yield() }
        await storage.close()
        var (stored, refused) = (0, 0)
        for write in writes {
            do {
                _ = try await write.value
                stored += 1
            } catch let error as StorageError {
                #expect(error.kind == .closed)
                refused += 1
            }
        }
        #expect(stored > 0)
        #expect(stored + refused == 20)
    }
}
