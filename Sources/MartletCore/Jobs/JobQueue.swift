/// Decides which job runs next. Each hub runs one job at a time, and the total number of running jobs is limited.
struct JobQueue {
    private struct Key: Hashable {
        var hub: Hub.ID
        var job: String

        init(_ progress: JobProgress) { (hub, job) = (progress.job.hub, progress.job.id) }
    }

    private let limit: Int
    private var waiting: [JobProgress] = []
    private var busy: Set<Hub.ID> = []
    /// The jobs that have done their work, and whose end could not be stored yet. They take no other job's place.
    private var ending: Set<Key> = []
    /// The jobs that wait, run or end.
    private var known: Set<Key> = []
    /// The number of reads of the store that are in progress.
    private var reads = 0
    /// The jobs that have ended while at least one read was in progress. Emptied when no read is in progress any more.
    private var ended: Set<Key> = []

    init(limit: Int) {
        self.limit = limit
    }

    var isEmpty: Bool { waiting.isEmpty && busy.isEmpty && ending.isEmpty }

    mutating func add(_ progress: JobProgress) {
        guard known.insert(Key(progress)).inserted else { return }
        waiting.append(progress)
    }

    /// Notes that a read of the unfinished jobs in the store begins. Every call must be followed by a call of
    /// `endRead`.
    mutating func beginRead() { reads += 1 }

    /// Adds the jobs that were read from the store, unless they are known or have ended since the read began.
    mutating func endRead(_ found: [JobProgress]) {
        for progress in found where !ended.contains(Key(progress)) { add(progress) }
        reads -= 1
        if reads == 0 { ended = [] }
    }

    /// Removes the waiting jobs of a hub that another process has taken over.
    mutating func remove(_ hub: Hub.ID) {
        for progress in waiting where progress.job.hub == hub { known.remove(Key(progress)) }
        waiting.removeAll { $0.job.hub == hub }
    }

    /// Returns the job to start now; nil if none may start. The hub of the job is busy until `finished` is called.
    mutating func next() -> JobProgress? {
        guard busy.count < limit, let index = waiting.firstIndex(where: { !busy.contains($0.job.hub) }) else {
            return nil
        }
        let progress = waiting.remove(at: index)
        busy.insert(progress.job.hub)
        return progress
    }

    /// Gives the place of a running job to others, because only its end has to be stored. `finished` must be called as
    /// for a running job.
    mutating func beginEnding(_ progress: JobProgress) {
        guard ending.insert(Key(progress)).inserted else { return }
        busy.remove(progress.job.hub)
    }

    mutating func finished(_ progress: JobProgress) {
        if ending.remove(Key(progress)) == nil { busy.remove(progress.job.hub) }
        known.remove(Key(progress))
        if reads > 0 { ended.insert(Key(progress)) }
    }
}
