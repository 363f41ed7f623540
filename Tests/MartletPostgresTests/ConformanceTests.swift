import MartletTesting
import Testing

@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct ConformanceTests {
    @Test(arguments: StorageConformance.requirements)
    func postgres(_ requirement: StorageConformance.Requirement) async throws {
        try await TestDatabase.with { try await requirement.check($0) }
    }
}
