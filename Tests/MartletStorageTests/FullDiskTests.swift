import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

struct FullDiskTests {
    private let now = Timestamp(seconds: 1_700_000_000)
    private let platform = PlatformID(rawValue: "pigeon")

    private func body(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

    @Test func aFullDiskRefusesNewWorkKeepsTheOldAndRecovers() async throws {
        let directory = TemporaryDirectory()
        var settings = SQLiteStorage.Settings()
        // The empty database has about a hundred pages, and a large body takes ten more.
        settings.pageLimit = 150
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer(), settings: settings)
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let small = try await storage.broadcast(of: body(10), in: hub, at: now)

        let results = await withTaskGroup(of: StorageError.Kind?.self) { group in
            for number in 0..<40 {
                group.addTask {
                    do throws(StorageError) {
                        _ = try await storage.broadcast(of: body(number % 2 == 0 ? 40_000 : 10), in: hub, at: now)
                        return nil
                    } catch {
                        return error.kind
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.contains(.full))
        #expect(results.contains(nil))
        #expect(results.allSatisfy { $0 == nil || $0 == .full })
        let stored = try await storage.unfinished(after: .none, limit: 100)
        #expect(
            stored.count == 1 + results.filter { $0 == nil }.count, "what failed left nothing, what succeeded is there")
        #expect(stored.first?.delivery.id == small.id)

        try await storage.writer.write { connection throws(StorageError) in
            try connection.execute("PRAGMA max_page_count = 100000")
        }
        _ = try await storage.broadcast(of: body(40_000), in: hub, at: now)
        await storage.close()
    }

    @Test func theReserveIsForWhatWasAccepted() async throws {
        let directory = TemporaryDirectory()
        let figures = Locked(DiskRoom.Figures(free: 100, reserve: 10))
        var settings = SQLiteStorage.Settings()
        settings.room = { _ in DiskRoom(lifetime: .zero) { figures.withLock(\.self) } }
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer(), settings: settings)
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let draft = RegistrationDraft(platform: platform, handle: PushHandle("north"), handleKey: "north", tags: [])
        let registered = try await storage.apply([.put(draft, id: "1", condition: .none)], in: hub, at: now)
        _ = try registered[0].get()
        let delivery = try await storage.broadcast(of: body(10), in: hub, at: now)
        #expect(storage.room.shortage == nil)

        figures.withLock { $0.free = 9 }
        #expect(storage.room.shortage?.contains("nothing new is taken in") == true)
        for refused in try await refusals(storage, hub, draft) { #expect(refused == .full) }
        #expect(try await storage.registration("2", in: hub, at: now) == nil)
        #expect(try await storage.unfinished(after: .none, limit: 10).count == 1)

        // What ends, or goes.
        try await storage.record(
            DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: now))
        #expect(try await storage.unfinished(after: .none, limit: 10).isEmpty)
        let removed = try await storage.apply([.delete(id: "1", condition: .none)], in: hub, at: now)
        _ = try removed[0].get()

        figures.withLock { $0.free = 10 }
        for refused in try await refusals(storage, hub, draft) { #expect(refused == nil) }
        await storage.close()
    }

    /// What becomes of one of everything that takes room.
    private func refusals(
        _ storage: SQLiteStorage, _ hub: Hub.ID, _ draft: RegistrationDraft
    ) async throws -> [StorageError.Kind?] {
        func refusal(_ work: () async throws -> Void) async -> StorageError.Kind? {
            do {
                try await work()
                return nil
            } catch let error as StorageError {
                return error.kind
            } catch ContainerError.storage(let error) {
                return error.kind
            } catch {
                return .unavailable
            }
        }
        return [
            await refusal { _ = try await storage.broadcast(of: body(10), in: hub, at: now) },
            await refusal {
                _ = try await storage.apply([.put(draft, id: "2", condition: .none)], in: hub, at: now)
            },
            await refusal { _ = try await storage.createHub(name: "other", settings: HubSettings(), at: now) },
            await refusal {
                let session = Session(
                    tokenHash: [UInt8](repeating: 1, count: 32), userName: "alice", createdAt: now,
                    expiresAt: now + .seconds(60))
                try await storage.putUser(User(name: "alice", passwordHash: "x", createdAt: now))
                try await storage.addSession(session)
            },
            await refusal {
                let upload = try await storage.payloadBodies.upload(PayloadBodies.newName())
                try await upload.write([1, 2, 3])
                await upload.abandon()
            },
        ]
    }
}
