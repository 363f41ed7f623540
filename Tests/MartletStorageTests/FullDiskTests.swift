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
        settings.pageLimit = 100
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
}
