public import MartletCore
public import MartletModel

extension SQLiteStorage: JobStore {
    public func createJob(_ job: Job) async throws(StorageError) {
        try await takeIn { [sealer] connection throws(StorageError) in
            try JobTable(connection, sealer).create(job)
        }
    }

    public func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job? {
        try await readers.read { [sealer] connection throws(StorageError) in
            try JobTable(connection, sealer).job(id, in: hub)
        }
    }

    public func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job] {
        try await readers.read { [sealer] connection throws(StorageError) in
            try JobTable(connection, sealer).jobs(in: hub, limit: limit)
        }
    }

    public func unfinishedJobs() async throws(StorageError) -> [JobProgress] {
        try await readers.read { [sealer] connection throws(StorageError) in
            try JobTable(connection, sealer).unfinished()
        }
    }

    @discardableResult
    public func record(_ progress: JobProgress) async throws(StorageError) -> Bool {
        try await writer.write { [sealer] connection throws(StorageError) in
            try JobTable(connection, sealer).record(progress)
        }
    }

    public func apply(
        _ changes: [RegistrationChange], of job: String, in hub: Hub.ID, after line: Int64, at now: Timestamp,
        _ progress: @escaping @Sendable ([Result<Registration, RegistrationRefusal>]) -> JobProgress
    ) async throws(StorageError) -> JobProgress? {
        try await takeIn { [sealer, writer] connection throws(StorageError) in
            guard let stored = try JobTable(connection, sealer).line(of: job, in: hub) else { return nil }
            guard stored == line else { throw .jobHasGoneOn }
            let table = RegistrationTable(connection, WriteCache())
            var results: [Result<Registration, RegistrationRefusal>] = []
            repeat {
                let portion = changes[results.count...].prefix(Self.portion)
                results += try table.apply(portion, in: hub, at: now)
            } while results.count < changes.count && writer.waitingCount == 0
            let reached = progress(results)
            _ = try JobTable(connection, sealer).record(reached)
            return reached
        }
    }

    /// The number of changes that a job makes before it checks whether other callers wait for the writer. If so, the
    /// job's transaction ends. This many changes take a few milliseconds.
    private static let portion = 200

    public func registrationCount(in hub: Hub.ID) async throws(StorageError) -> Int64 {
        try await readers.read { [sealer] connection throws(StorageError) in
            try JobTable(connection, sealer).registrationCount(in: hub)
        }
    }
}
