import Foundation
import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

struct LogTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    @Test func theLogStaysBoundedWhileWritesNeverPause() async throws {
        let directory = TemporaryDirectory()
        var settings = SQLiteStorage.Settings()
        settings.logLimits = LogLimits(checkpoint: 20, most: 200)
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer(), settings: settings)
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<100 {
                        _ = try await storage.broadcast(
                            of: [UInt8](repeating: 1, count: 3000), in: hub, at: now)
                        _ = try await storage.unfinished(after: .none, limit: 5)
                    }
                }
            }
            try await group.waitForAll()
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory.path)/martlet.db-wal")
        let pages = try #require(attributes[.size] as? Int) / 4096
        #expect(pages < 800, "the messages alone are a page each, and what finds them more")
        #expect(try await storage.unfinished(after: .none, limit: 1000).count == 800)
        await storage.close()
    }
}
