import MartletCore
import MartletTesting
import Testing

@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct ConformanceTests {
    /// The requirements that need a port which is not built yet are known issues; their number says how much is left.
    @Test(arguments: StorageConformance.requirements)
    func postgres(_ requirement: StorageConformance.Requirement) async throws {
        try await TestDatabase.with { storage in
            do {
                try await requirement.check(StorageInProgress(built: storage))
            } catch let error as StorageError where error == NotBuilt.error {
                withKnownIssue("a port is not built yet") { Issue.record(error) }
            }
        }
    }
}
