import MartletCore
import MartletModel
import Synchronization
import Testing

@testable import MartletPostgres

/// Jobs write registrations in the groups of their hub.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct JobTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    private func withHub(_ work: (PostgresStorage, Hub.ID) async throws -> Void) async throws {
        try await TestDatabase.with { storage in
            let hub = try #require(try await storage.createHub(name: "shop", settings: HubSettings(), at: now)).id
            try await work(storage, hub)
        }
    }

    private func job(_ id: String, in hub: Hub.ID) throws -> Job {
        Job(
            id: id, hub: hub, kind: .importDelete, outputURL: "https://h/out?sig=1",
            output: try #require(ContainerName("jobs")), directory: try #require(BlobName("shop/\(id)")), input: nil,
            createdAt: now)
    }

    private func draft(_ handle: String, _ tags: [String], body: String? = nil) throws -> RegistrationDraft {
        RegistrationDraft(
            platform: PlatformID(rawValue: "pigeon"), handle: PushHandle(handle), handleKey: handle,
            tags: try tags.map { try Tag($0) }, template: body.map { Template(body: $0) },
            pushVariables: body == nil ? [:] : ["name": "Ada"])
    }

    @Test func whatWasDeletedIsToldWithAllThatItHad() async throws {
        let options = TestDatabase.fresh()
        try await TestDatabase.with(options) { storage in
            let hub = try #require(try await storage.createHub(name: "shop", settings: HubSettings(), at: now)).id
            let before = try await storage.apply(
                [
                    .put(try draft("a", ["City:Berlin", "vip"], body: "{}"), id: "1", condition: .none),
                    .put(try draft("b", []), id: "2", condition: .none),
                ], in: hub, at: now
            ).map { try $0.get() }
            try await storage.createJob(try job("j", in: hub))
            // Another node has nothing of this in its memory.
            let other = try await TestDatabase.open(options)
            try await storage.nodes.leave()
            #expect(try await other.nodes.renew().hubs.keys.contains(hub))
            let told = Mutex<[Registration]>([])
            let start = JobProgress(job: try job("j", in: hub))
            let changes: [RegistrationChange] = [
                .delete(id: "1", condition: .none), .delete(id: "2", condition: .none),
                .delete(id: "3", condition: .none),
                .put(try draft("c", ["new"], body: "[]"), id: "4", condition: .none),
            ]
            let reached = try await other.apply(changes, of: "j", in: hub, after: 0, at: now) { results in
                told.withLock { $0 = results.compactMap { try? $0.get() } }
                return start
            }
            await other.close()
            #expect(reached != nil)
            let found = told.withLock { $0 }
            #expect(found.map(\.id) == ["1", "2", "4"])
            let kept = try #require(try await storage.registration("4", in: hub, at: now))
            for (told, wanted) in zip(found, before + [kept]) {
                #expect(told.tags.map(\.spelling) == wanted.tags.map(\.spelling))
                #expect(told.template == wanted.template && told.pushVariables == wanted.pushVariables)
                #expect(told.handle == wanted.handle && told.platform == wanted.platform)
            }
        }
    }

    @Test func aJobThatIsNotThereWritesNothing() async throws {
        try await withHub { storage, hub in
            let start = JobProgress(job: try job("j", in: hub))
            let put = RegistrationChange.put(try draft("a", ["x"]), id: "1", condition: .none)
            #expect(try await storage.apply([put], of: "j", in: hub, after: 0, at: now) { _ in start } == nil)
            #expect(try await storage.registration("1", in: hub, at: now) == nil)
            #expect(try await storage.registrationCount(in: hub) == 0)
            #expect(try await !storage.record(start))
        }
    }

    @Test func onlyTheNewestFinishedJobsAreKeptAndNumbersRise() async throws {
        try await withHub { storage, hub in
            try await storage.transaction { connection, patience throws(DatabaseFailure) in
                let filling = Statement.rare(
                    [.int4, .int8],
                    """
                    INSERT INTO jobs (shard, sequence, id, kind, sealed_addresses, output, directory, created_at, status,
                        is_final, progress, updated_at)
                    SELECT $1, n, int8send(n), 'ExportRegistrations', '', 'jobs', 'x', 0, 'Completed', true, 10000, 0
                    FROM generate_series(1, $2) n
                    """)
                try connection.run(
                    Batch(filling) {
                        $0.add(Shard(hub).number)
                        $0.add(Int64(JobProgress.finishedLimit) + 5)
                    }, patience)
            }
            try await storage.createJob(try job("new", in: hub))
            let rows = try await storage.read(
                Batch(.rare([], "SELECT count(*), min(sequence), max(sequence) FROM jobs")))[0]
            let limit = Int64(JobProgress.finishedLimit)
            #expect([rows[0].integer(0), rows[0].integer(1), rows[0].integer(2)] == [limit + 1, 6, limit + 6])
            #expect(try await storage.unfinishedJobs().map(\.job.id) == ["new"])
        }
    }
}
