import MartletCore
import MartletModel

extension StorageConformance {
    static let jobs: [Requirement] = [
        Requirement("A job is found in its hub, as it was taken") { bench in
            let hub = try await bench.hub()
            let other = try await bench.hub("other")
            try await bench.storage.createJob(try bench.job("1", in: hub))
            let job = try require(try await bench.storage.job("1", in: hub))
            try require(job.kind, is: .importCreate)
            try require(job.outputURL, is: "https://h/out?sig=1")
            try require(job.input, is: try bench.job("1", in: hub).input)
            try require(job.path(of: .failed), is: "loft/1/Failed.txt")
            try require(job.status, is: .started)
            try require(job.createdAt, is: bench.now)
            try require(try await bench.storage.job("1", in: other) == nil, is: true)
            try require(try await bench.storage.jobs(in: other, limit: 10).count, is: 0)
        },
        Requirement("Jobs are listed newest first; those that are not over are told oldest first") { bench in
            let hub = try await bench.hub()
            for id in ["1", "2", "3"] { try await bench.storage.createJob(try bench.job(id, in: hub)) }
            var done = JobProgress(job: try bench.job("2", in: hub))
            done.job.status = .failed
            done.job.failure = "Because."
            try await bench.storage.record(done)
            try require(try await bench.storage.jobs(in: hub, limit: 2).map(\.id), is: ["3", "2"])
            try require(try await bench.storage.unfinishedJobs().map(\.job.id), is: ["1", "3"])
            try require(try await bench.storage.job("2", in: hub)?.failure, is: "Because.")
        },
        Requirement("How far a job has come is kept with the writes that brought it there") { bench in
            let hub = try await bench.hub()
            try await bench.storage.createJob(try bench.job("1", in: hub))
            let changes: [RegistrationChange] = [
                .put(try bench.draft("a"), id: "r1", condition: .none),
                .put(try bench.draft("b"), id: "r2", condition: .exists),
            ]
            let start = JobProgress(job: try bench.job("1", in: hub))
            let found = try await bench.storage.apply(changes, of: "1", in: hub, after: 0, at: bench.now) { results in
                var reached = start
                reached.job.status = .running
                reached.job.progress = 12.34
                reached.cursor.inputOffset = 77
                reached.cursor.line = 2
                reached.cursor.inputTag = "tag"
                reached.cursor.sequence = 5
                reached.cursor.count = 6
                reached.cursor.output = JobCursor.Written(bytes: 3, pending: [1, 2])
                reached.cursor.failed = JobCursor.Written(
                    bytes: 4, pending: results.map { if case .success = $0 { 1 } else { 0 } })
                return reached
            }
            let reached = try require(found)
            try require(reached.cursor.failed.pending, is: [1, 0])
            let stored = try require(try await bench.storage.unfinishedJobs().first)
            try require(stored.cursor, is: reached.cursor)
            try require(stored.job.progress, is: 12.34)
            try require(stored.job.status, is: .running)
            try require(try await bench.storage.registrationCount(in: hub), is: 1)
            // The same lines again, by a caller that does not know that they were stored.
            var refusal: StorageError?
            do throws(StorageError) {
                _ = try await bench.storage.apply(changes, of: "1", in: hub, after: 0, at: bench.now) { _ in start }
            } catch {
                refusal = error
            }
            try require(refusal, is: .jobHasGoneOn)
            try require(try await bench.storage.unfinishedJobs().first?.cursor, is: reached.cursor)
        },
        Requirement("The jobs of a hub go with it") { bench in
            let hub = try await bench.hub()
            try await bench.storage.createJob(try bench.job("1", in: hub))
            _ = try await bench.storage.deleteHub(hub)
            try require(try await bench.storage.unfinishedJobs().count, is: 0)
            let job = JobProgress(job: try bench.job("1", in: hub))
            try require(try await bench.storage.record(job), is: false)
            let change = RegistrationChange.put(try bench.draft("a"), id: "r1", condition: .none)
            let applied = try await bench.storage.apply([change], of: "1", in: hub, after: 0, at: bench.now) { _ in job
            }
            try require(applied == nil, is: true)
            try require(try await bench.storage.unfinishedJobs().count, is: 0)
            try require(try await bench.storage.registrationCount(in: hub), is: 0)
        },
    ]
}

extension StorageBench {
    fileprivate func job(_ id: String, in hub: Hub.ID) throws -> Job {
        let container = try require(ContainerName("jobs"))
        return Job(
            id: id, hub: hub, kind: .importCreate, outputURL: "https://h/out?sig=1", output: container,
            directory: try require(BlobName("loft/\(id)")),
            input: Job.Input(
                url: "https://h/in?sig=2", address: BlobAddress(container, try require(BlobName("in.txt")))),
            createdAt: now)
    }
}
