public import MartletModel

/// Stores jobs and their progress. Every change is durable when it returns.
public protocol JobStore: Sendable {
    /// Adds a job. Removes the oldest finished jobs of the hub, so that at most `JobProgress.finishedLimit` are left.
    func createJob(_ job: Job) async throws(StorageError)

    func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job?

    /// Returns the jobs of a hub, newest first.
    func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job]

    /// Returns the unfinished jobs with their progress, oldest first.
    func unfinishedJobs() async throws(StorageError) -> [JobProgress]

    /// Stores the progress of a job; does nothing if the job was deleted with its hub.
    /// - Returns: Whether the job exists.
    @discardableResult
    func record(_ progress: JobProgress) async throws(StorageError) -> Bool

    /// Applies writes to registrations, as `DeviceStore.apply` does, and stores the resulting progress of the job in
    /// the same transaction. If other writers are waiting, the store may apply only some of the writes: the first one,
    /// or more from the start of the list. The caller then calls this method again with the rest.
    /// - Parameters:
    ///   - progress: A function that takes the results of the applied writes, in their order, and returns the progress
    ///     to store.
    ///   - job: The id of the job.
    ///   - line: The stored number of processed lines. If the job is at another line, an earlier call whose result was
    ///     not known has stored its writes, and this call throws `StorageError.jobHasGoneOn`.
    /// - Returns: The stored progress; nil if the job was deleted with its hub, in which case nothing was written.
    func apply(
        _ changes: [RegistrationChange], of job: String, in hub: Hub.ID, after line: Int64, at now: Timestamp,
        _ progress: @escaping @Sendable ([Result<Registration, RegistrationRefusal>]) -> JobProgress
    ) async throws(StorageError) -> JobProgress?

    /// Returns the approximate number of registrations of a hub. It may include some that have just expired.
    func registrationCount(in hub: Hub.ID) async throws(StorageError) -> Int64
}

extension StorageError {
    /// The error of a write of a job that has gone on since its progress was read.
    public static let jobHasGoneOn = StorageError(
        .unavailable, "The job has gone on since its progress was read. It must be read again.")
}

/// A job, and the cursor from which it continues after a restart.
public struct JobProgress: Sendable {
    public var job: Job
    public var cursor: JobCursor

    public init(job: Job, cursor: JobCursor = JobCursor()) {
        self.job = job
        self.cursor = cursor
    }

    /// The maximum number of finished jobs that are kept for each hub.
    public static let finishedLimit = 1000
}
