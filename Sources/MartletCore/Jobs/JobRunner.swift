import MartletModel
import Synchronization

/// Runs jobs from the start of the server until its shutdown. Unfinished jobs continue at the next start.
public final class JobRunner: Sendable {
    private static let concurrencyLimit = 2
    /// The time that a job waits when the disk is full, before it is tried again.
    private static let roomInterval: Duration = .seconds(10)
    /// The time between two attempts to store the end of a job.
    private static let endInterval: Duration = .seconds(30)
    /// How often the files of a job are tried to be stored after its patience is over: for a quarter of an hour.
    private static let commitLimit = 30

    private let parts: JobParts
    private let ownership: HubOwnership
    private let queue = Mutex(JobQueue(limit: concurrencyLimit))
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let log: @Sendable (String) -> Void

    /// Creates the runner.
    /// - Parameters:
    ///   - ownership: The hubs whose jobs this process runs.
    ///   - log: Receives messages for the operator, without secrets.
    public init(
        jobs: any JobStore, devices: any DeviceStore, containers: any ContainerStore, lines: any JobLines,
        ownership: HubOwnership = HubOwnership(), time: any TimeSource,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.ownership = ownership
        parts = JobParts(jobs: jobs, devices: devices, containers: containers, lines: lines, time: time)
        self.log = log
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// True if no job is waiting or running.
    var isIdle: Bool { queue.withLock(\.isEmpty) }

    /// Accepts a job. The job is on disk when this method returns, and will be run by the process that owns the hub.
    public func accept(_ job: Job) async throws(StorageError) {
        try await parts.jobs.createJob(job)
        guard ownership.owns(job.hub) else { return }
        queue.withLock { $0.add(JobProgress(job: job)) }
        wake.yield()
    }

    public func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job? {
        try await parts.jobs.job(id, in: hub)
    }

    /// Returns the jobs of a hub, newest first.
    public func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job] {
        try await parts.jobs.jobs(in: hub, limit: limit)
    }

    /// Queues the unfinished jobs that this process does not run yet. Such a job is left from an earlier process,
    /// belongs to a hub that this process has just begun to own, or was accepted by another process.
    public func resume() async throws(StorageError) {
        queue.withLock { $0.beginRead() }
        var found: [JobProgress] = []
        defer {
            queue.withLock { $0.endRead(found.filter { ownership.owns($0.job.hub) }) }
            wake.yield()
        }
        found = try await parts.jobs.unfinishedJobs()
    }

    /// Leaves the jobs of a hub to another process, which owns the hub now. A running job stops at its next step,
    /// because the storage refuses that step.
    public func disown(_ hub: Hub.ID) {
        queue.withLock { $0.remove(hub) }
    }

    /// Runs jobs until the task is cancelled, then interrupts the running jobs.
    public func run() async {
        await withDiscardingTaskGroup { group in
            wake.yield()
            for await _ in wakes {
                while let progress = queue.withLock({ $0.next() }) {
                    group.addTask {
                        await self.run(progress)
                        self.queue.withLock { $0.finished(progress) }
                        self.wake.yield()
                    }
                }
            }
        }
    }

    private func run(_ start: JobProgress) async {
        var next: JobProgress? = start
        var patience = JobPatience()
        // Why the job fails, once its patience is over. From then on, only its end has to be stored.
        var failure: String?
        var failedCommits = 0
        while let progress = next {
            var work = JobWork(progress, parts)
            do throws(JobStop) {
                try await work.run(failingBecause: failure)
                return
            } catch {
                switch error {
                case .interrupted: return
                case .gone: return await JobFiles.abandon(progress.job, parts.containers)
                case .failed(let sentence): return await fail(work.progress, work.progress.job.failure ?? sentence)
                case .noRoom:
                    log("A job waits for room on the disk; it goes on by itself.")
                    next = await resumed(progress.job) { $0 + Self.roomInterval }
                case .unavailable(let sentence):
                    if failure == nil {
                        log("A job waits for the storage and goes on by itself: \(sentence)")
                    } else if work.stored.isWritten, !work.isCommitted {
                        failedCommits += 1
                        // A job must not stay unfinished because its files can never be stored.
                        if failedCommits > Self.commitLimit {
                            return await fail(work.progress, work.progress.job.failure ?? sentence)
                        }
                    }
                    let stored = work.stored
                    next = await resumed(progress.job) { now in
                        if failure == nil {
                            if let attempt = patience.fail(at: now, stored) { return attempt }
                            failure = sentence
                            beginEnding(progress)
                        }
                        return now + Self.endInterval
                    }
                }
            }
        }
    }

    /// Lets other jobs run while the end of a job is not stored.
    private func beginEnding(_ progress: JobProgress) {
        queue.withLock { $0.beginEnding(progress) }
        wake.yield()
    }

    /// Waits, and then reads the job from the store again, because it is not known whether its last step was stored.
    /// - Parameter nextAttempt: Returns when to try next, given the current time.
    /// - Returns: The job; nil if the server is shutting down, or if the job has ended or was deleted.
    private func resumed(_ job: Job, _ nextAttempt: (Timestamp) -> Timestamp) async -> JobProgress? {
        while true {
            do {
                try await parts.time.sleep(until: nextAttempt(parts.time.now))
            } catch {
                return nil
            }
            do throws(StorageError) {
                return try await parts.jobs.unfinishedJobs().first { $0.job.id == job.id && $0.job.hub == job.hub }
            } catch {
                guard error.kind != .closed else { return nil }
            }
        }
    }

    /// Marks a job as failed, because its files or its progress could not be stored. Tries again until that is stored.
    private func fail(_ progress: JobProgress, _ sentence: String) async {
        var failed = progress
        failed.job.status = .failed
        failed.job.failure = sentence
        failed.cursor = JobCursor()
        while true {
            failed.job.updatedAt = parts.time.now
            do throws(StorageError) {
                try await parts.jobs.record(failed)
                return
            } catch {
                log("A job that failed could not be recorded as such and will be tried again: \(error)")
                guard error.kind == .unavailable || error.kind == .full else { return }
            }
            beginEnding(progress)
            do {
                try await parts.time.sleep(until: parts.time.now + Self.endInterval)
            } catch {
                return
            }
        }
    }
}

/// The stores and services that jobs use.
struct JobParts: Sendable {
    let jobs: any JobStore
    let devices: any DeviceStore
    let containers: any ContainerStore
    let lines: any JobLines
    let time: any TimeSource
}

/// The reasons why a job stops before its end.
enum JobStop: Error {
    /// Either the server is shutting down, and the job continues at the next start, or another process now runs the
    /// job.
    case interrupted
    /// The disk is full; the job continues when enough space is free.
    case noRoom
    /// The storage did not answer; the job continues when it answers again (`JobPatience`).
    case unavailable(String)
    /// The job was deleted with its hub.
    case gone
    case failed(String)

    init(_ error: StorageError) {
        self =
            switch error.kind {
            case .closed, .locked: .interrupted
            case .full: .noRoom
            case .unavailable: .unavailable(error.detail)
            case .corrupt: .failed(error.detail)
            }
    }

    init(_ error: ContainerError) {
        switch error {
        case .noContainer: self = .failed("The container of the job is gone.")
        case .tooLarge: self = .failed("The output of the job is larger than a blob may be.")
        case .noBlob: self = .failed("The file that the job reads is not there.")
        case .storage(let error): self.init(error)
        case .noBlock, .nameTaken, .conditionFailed: self = .failed("A file of the job could not take its place.")
        }
    }
}
