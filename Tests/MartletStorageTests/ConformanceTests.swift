import MartletStorage
import MartletTesting
import Testing

struct ConformanceTests {
    @Test(arguments: StorageConformance.requirements)
    func sqlite(_ requirement: StorageConformance.Requirement) async throws {
        let directory = TemporaryDirectory()
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        try await requirement.check(storage)
        await storage.close()
    }

    @Test(arguments: StorageConformance.requirements)
    func memory(_ requirement: StorageConformance.Requirement) async throws {
        try await requirement.check(MemoryStorage(isShared: true))
    }
}
