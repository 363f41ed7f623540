/// Decides which job runs next. Each hub runs one job at a time, and the total number of running jobs is limited.
struct JobQueue {
    private let limit: Int
    private var waiting: [JobProgress] = []
    private var busy: Set<Hub.ID> = []

    init(limit: Int) {
        self.limit = limit
    }

    var isEmpty: Bool { waiting.isEmpty && busy.isEmpty }

    mutating func add(_ progress: JobProgress) {
        waiting.append(progress)
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

    mutating func finished(in hub: Hub.ID) {
        busy.remove(hub)
    }
}
