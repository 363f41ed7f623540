import MartletCore
import MartletModel
import MartletPostgres

extension StorageInProgress: JobStore {
    func createJob(_ job: Job) async throws(StorageError) {
        try await built.createJob(job)
    }

    func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job? {
        try await built.job(id, in: hub)
    }

    func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job] {
        try await built.jobs(in: hub, limit: limit)
    }

    func unfinishedJobs() async throws(StorageError) -> [JobProgress] {
        try await built.unfinishedJobs()
    }

    func record(_ progress: JobProgress) async throws(StorageError) -> Bool {
        try await built.record(progress)
    }

    func apply(
        _ changes: [RegistrationChange], of job: String, in hub: Hub.ID, at now: Timestamp,
        _ progress: @escaping @Sendable ([Result<Registration, RegistrationRefusal>]) -> JobProgress
    ) async throws(StorageError) -> JobProgress? {
        try await built.apply(changes, of: job, in: hub, at: now, progress)
    }

    func registrationCount(in hub: Hub.ID) async throws(StorageError) -> Int64 {
        try await built.registrationCount(in: hub)
    }
}
