import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

struct BacklogTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    @Test func whatIsNotFinishedIsCountedWithTheAgeOfTheOldest() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        #expect(try await storage.backlog() == SQLiteStorage.Backlog(deliveries: 0, oldest: nil))
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        for seconds in [0, 5] { _ = try await storage.broadcast(of: [1], in: hub, at: now + .seconds(seconds)) }
        #expect(try await storage.backlog() == SQLiteStorage.Backlog(deliveries: 2, oldest: now))
        let first = try #require(try await storage.unfinished(after: .none, limit: 1).first).delivery
        try await storage.record(
            DeliveryStep(delivery: first.id, isFannedOut: true, state: .completed, endedAt: now))
        #expect(try await storage.backlog() == SQLiteStorage.Backlog(deliveries: 1, oldest: now + .seconds(5)))
        #expect(storage.fileSizes.database > 0)
        #expect(storage.writeTimes.commit.count > 0)
        await storage.close()
    }
}
