import MartletCore
import MartletModel
import MartletPostgres

/// The ports that are not built on PostgreSQL yet. Each of them fails in a way that the suite recognizes, so that the
/// requirements that need none of them are checked. A port that is built goes from here.
enum NotBuilt {
    static let error = StorageError(.unavailable, "This port is not built on PostgreSQL yet.")
}

extension StorageInProgress: JobStore {
    func createJob(_ job: Job) async throws(StorageError) { throw NotBuilt.error }
    func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job? { throw NotBuilt.error }
    func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job] { throw NotBuilt.error }
    func unfinishedJobs() async throws(StorageError) -> [JobProgress] { throw NotBuilt.error }
    func record(_ progress: JobProgress) async throws(StorageError) -> Bool { throw NotBuilt.error }
    func apply(
        _ changes: [RegistrationChange], of job: String, in hub: Hub.ID, at now: Timestamp,
        _ progress: @escaping @Sendable ([Result<Registration, RegistrationRefusal>]) -> JobProgress
    ) async throws(StorageError) -> JobProgress? { throw NotBuilt.error }
    func registrationCount(in hub: Hub.ID) async throws(StorageError) -> Int64 { throw NotBuilt.error }
}
