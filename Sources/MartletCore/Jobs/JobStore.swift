public import MartletModel

/// Keeps jobs and how far they have come. Every verb is durable when it returns.
public protocol JobStore: Sendable {
    /// Takes a job. Of those of the hub that are over, only the newest are kept, up to a limit.
    func createJob(_ job: Job) async throws(StorageError)

    func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job?

    /// Newest first.
    func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job]

    /// Jobs that are not over, oldest first, with where they are to go on.
    func unfinishedJobs() async throws(StorageError) -> [JobProgress]

    /// Writes how far a job has come; does nothing where it is gone with its hub.
    /// - Returns: Whether it is there.
    @discardableResult
    func record(_ progress: JobProgress) async throws(StorageError) -> Bool

    /// Does writes to registrations, as `DeviceStore.apply` does, and records in the same transaction what the job has
    /// come to by them.
    /// - Parameter progress: Is given what became of each write.
    /// - Parameter job: The id of the job.
    /// - Returns: What was recorded; nil where the job is gone with its hub, and nothing was written.
    func apply(
        _ changes: [RegistrationChange], of job: String, in hub: Hub.ID, at now: Timestamp,
        _ progress: @escaping @Sendable ([Result<Registration, RegistrationRefusal>]) -> JobProgress
    ) async throws(StorageError) -> JobProgress?

    /// How many registrations a hub has, about: those that have just expired may be among them.
    func registrationCount(in hub: Hub.ID) async throws(StorageError) -> Int64
}

/// A job and where it is to go on.
public struct JobProgress: Sendable {
    public var job: Job
    public var cursor: JobCursor

    public init(job: Job, cursor: JobCursor = JobCursor()) {
        self.job = job
        self.cursor = cursor
    }

    /// How many finished jobs of a hub are kept.
    public static let finishedLimit = 1000
}
