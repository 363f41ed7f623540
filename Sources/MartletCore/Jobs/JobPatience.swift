import MartletModel

/// Decides how long a job waits for a storage that does not answer. Does no I/O.
///
/// The wait before an attempt doubles, from one second up to half a minute. The job fails if it has made no progress for
/// `limit`.
struct JobPatience: Sendable, Equatable {
    static let limit = Duration.seconds(900)
    private static let longestWait = Duration.seconds(30)

    private var cursor: JobCursor?
    private var since: Timestamp?
    private var attempts = 0
    /// Whether the job fails, because the storage has not answered for too long.
    private(set) var isOver = false

    /// Records that the storage did not answer.
    /// - Parameter cursor: The progress of the job that is stored. Progress that was not stored is lost, and counts for
    ///   nothing.
    /// - Returns: When to try again; nil if the job fails.
    mutating func fail(at now: Timestamp, _ cursor: JobCursor) -> Timestamp? {
        if cursor != self.cursor { self = JobPatience(cursor: cursor) }
        // If the clock was set back, the time of the first failure must not stay in the future.
        let since = min(since ?? now, now)
        self.since = since
        isOver = now - since >= Self.limit
        guard !isOver else { return nil }
        attempts += 1
        return now + min(.seconds(1 << min(attempts - 1, 10)), Self.longestWait)
    }

    init() {}

    private init(cursor: JobCursor) {
        self.cursor = cursor
    }
}
