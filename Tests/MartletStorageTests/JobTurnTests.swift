import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

struct JobTurnTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    private func job(in hub: Hub.ID) throws -> Job {
        Job(
            id: "1", hub: hub, kind: .importCreate, outputURL: "https://h/out?sig=1",
            output: try #require(ContainerName("jobs")), directory: try #require(BlobName("loft/1")), input: nil,
            createdAt: now)
    }

    private func creations(_ count: Int) -> [RegistrationChange] {
        (0..<count).map { number in
            let draft = RegistrationDraft(
                platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("h\(number)"), handleKey: "h\(number)",
                tags: [])
            return .put(draft, id: DeviceRegistry.newID(), condition: .fresh)
        }
    }

    /// Applies the creations of a job while the writer works on another change.
    /// - Parameter othersWait: Whether a third change waits by the time the job begins.
    /// - Returns: The number of creations that were applied.
    private func appliedCount(of count: Int, othersWait: Bool) async throws -> Int {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let start = JobProgress(job: try job(in: hub))
        try await storage.createJob(start.job)
        let (first, second) = (Gate(), Gate())
        async let held: Void? = try? storage.writer.write { _ in first.wait() }
        await first.untilReached()
        // The next transaction is made of this change, which stops at a gate, and of the job's.
        async let before: Void? = try? storage.writer.write { _ in second.wait() }
        while storage.writer.waitingCount < 1 { await Task.yield() }
        let changes = creations(count)
        async let reached = storage.apply(changes, of: "1", in: hub, after: 0, at: now) { results in
            var reached = start
            reached.cursor.line = Int64(results.count)
            return reached
        }
        while storage.writer.waitingCount < 2 { await Task.yield() }
        first.open()
        await second.untilReached()
        async let after: Void? = othersWait ? try? storage.writer.write { _ in } : nil
        while othersWait, storage.writer.waitingCount < 1 { await Task.yield() }
        second.open()
        let progress = try await reached
        _ = await (held, before, after)
        let stored = try await storage.registrationCount(in: hub)
        await storage.close()
        #expect(progress?.cursor.line == stored)
        return Int(stored)
    }

    @Test func aJobLetsOthersWriteBeforeAllOfItsChangesAreApplied() async throws {
        let count = try await appliedCount(of: 1000, othersWait: true)
        #expect(count > 0 && count < 1000)
    }

    @Test func aJobAppliesAllOfItsChangesIfNobodyWaits() async throws {
        #expect(try await appliedCount(of: 1000, othersWait: false) == 1000)
    }
}
