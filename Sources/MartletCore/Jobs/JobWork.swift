import MartletModel

/// Runs one job, from its last stored progress to its end.
struct JobWork {
    let parts: JobParts
    var progress: JobProgress
    var files: JobFiles?
    /// The last progress that is known to be stored. `progress` may be further.
    var stored: JobCursor
    /// Whether the files of the job have their names, so that only the end has to be stored.
    private(set) var isCommitted = false

    init(_ progress: JobProgress, _ parts: JobParts) {
        self.progress = progress
        self.parts = parts
        stored = progress.cursor
    }

    /// - Parameter failure: Why the job fails without doing the rest of its work; nil to do it. A job whose work is
    ///   already done does not fail.
    mutating func run(failingBecause failure: String? = nil) async throws(JobStop) {
        if !progress.cursor.isWritten {
            if let failure {
                progress.job.failure = failure
            } else {
                do throws(JobStop) {
                    try await write()
                } catch {
                    guard case .failed(let sentence) = error else { throw error }
                    progress.job.failure = sentence
                }
            }
            progress.cursor.isWritten = true
            try await record()
        }
        // Commits the files of a failed job too: they list the work that was done before the failure.
        try await JobFiles.commit(progress, parts.containers)
        isCommitted = true
        progress.cursor = JobCursor()
        if progress.job.failure == nil {
            progress.job.status = .completed
            progress.job.progress = 100
        } else {
            progress.job.status = .failed
        }
        try await record()
    }

    private mutating func write() async throws(JobStop) {
        files = try await JobFiles(progress, parts.containers)
        switch progress.job.kind {
        case .export: try await export()
        case .importCreate, .importUpdate, .importDelete, .importUpsert: try await importLines()
        }
    }

    /// Stores the progress of the job. The progress is on disk when the method returns.
    mutating func record() async throws(JobStop) {
        progress.job.updatedAt = parts.time.now
        let progress = progress
        let isThere = try await access { () async throws(StorageError) in try await parts.jobs.record(progress) }
        guard isThere else { throw .gone }
        stored = progress.cursor
    }

    func access<Value>(_ work: () async throws(StorageError) -> Value) async throws(JobStop) -> Value {
        guard !Task.isCancelled else { throw .interrupted }
        do throws(StorageError) {
            return try await work()
        } catch {
            throw JobStop(error)
        }
    }
}
