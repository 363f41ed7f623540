public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: JobStore {
    public func createJob(_ job: Job) async throws(StorageError) {
        state.withLock { state in
            guard state.hubs.contains(where: { $0.id == job.hub }) else { return }
            state.jobs.append(JobProgress(job: job))
            let over = state.jobs.indices.filter { index in
                state.jobs[index].job.hub == job.hub && state.jobs[index].job.status.isFinal
            }
            for index in over.dropLast(JobProgress.finishedLimit).reversed() { state.jobs.remove(at: index) }
        }
    }

    public func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job? {
        state.withLock { state in state.jobs.first { $0.job.id == id && $0.job.hub == hub }?.job }
    }

    public func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job] {
        state.withLock { state in
            Array(state.jobs.reversed().map(\.job).filter { $0.hub == hub }.prefix(limit))
        }
    }

    public func unfinishedJobs() async throws(StorageError) -> [JobProgress] {
        state.withLock { state in state.jobs.filter { !$0.job.status.isFinal } }
    }

    @discardableResult
    public func record(_ progress: JobProgress) async throws(StorageError) -> Bool {
        state.withLock { $0.record(progress) }
    }

    public func apply(
        _ changes: [RegistrationChange], of job: String, in hub: Hub.ID, after line: Int64, at now: Timestamp,
        _ progress: @escaping @Sendable ([Result<Registration, RegistrationRefusal>]) -> JobProgress
    ) async throws(StorageError) -> JobProgress? {
        try state.withLock { state throws(StorageError) in
            guard let stored = state.jobs.first(where: { $0.job.id == job && $0.job.hub == hub }) else { return nil }
            guard stored.cursor.line == line else { throw .jobHasGoneOn }
            // Two at most, so that a caller that expects all of them is found out.
            let reached = progress(changes.prefix(2).map { state.apply($0, in: hub, at: now) })
            _ = state.record(reached)
            return reached
        }
    }

    public func registrationCount(in hub: Hub.ID) async throws(StorageError) -> Int64 {
        state.withLock { state in Int64(state.registrations.count { $0.hub == hub }) }
    }
}

extension MemoryState {
    fileprivate mutating func record(_ progress: JobProgress) -> Bool {
        let index = jobs.firstIndex { $0.job.id == progress.job.id && $0.job.hub == progress.job.hub }
        if let index { jobs[index] = progress }
        return index != nil
    }
}
