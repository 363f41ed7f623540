import MartletCore
import Synchronization

/// The only connection that writes, on its own thread. All waiting changes form one transaction (group commit), and
/// each caller resumes after the commit.
///
/// Changes have no savepoints. With savepoints, SQLite would copy every page before its first change in each savepoint,
/// and walk through all of these copies at the end of every statement, so that the cost of a long change would grow
/// with the square of its length. If a change fails, which is rare, the other changes of its group are executed again.
actor Writer {
    private nonisolated let executor: ThreadExecutor
    private nonisolated let waiting = Locked(Queue())
    private nonisolated let times = Locked(WriteTimes())
    private nonisolated let commits = Atomic<Int>(0)
    private nonisolated let checkpointer: Checkpointer
    private nonisolated let limits: LogLimits
    private nonisolated let gate: WriteGate
    private var connection: Connection?
    private var copy: DatabaseCopy?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The changes that wait for the next transaction.
    private struct Queue: Sendable {
        var writes: [PendingWrite] = []
        /// The time when the first of the waiting changes was submitted.
        var since = ContinuousClock.now
    }

    /// The durations of all writes so far.
    nonisolated var writeTimes: WriteTimes { times.withLock { $0 } }

    /// The number of committed transactions.
    nonisolated var commitCount: Int { commits.load(ordering: .relaxed) }

    /// The number of changes that wait for the next transaction.
    nonisolated var waitingCount: Int { waiting.withLock { $0.writes.count } }

    /// Creates a writer.
    /// - Parameters:
    ///   - connection: A migrated connection that is used only by this writer from now on.
    ///   - gate: Refuses all changes while it is closed.
    init(
        _ connection: sending Connection, checkpointer: Checkpointer, limits: LogLimits = LogLimits(),
        gate: WriteGate = WriteGate()
    ) {
        self.gate = gate
        self.connection = connection
        self.checkpointer = checkpointer
        self.limits = limits
        executor = ThreadExecutor()
    }

    /// Makes a change and returns when it is on disk.
    /// - Parameter change: May run twice, so it must have no effect other than on the connection.
    nonisolated func write<Value: Sendable>(
        _ change: @escaping @Sendable (Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let result = await withCheckedContinuation { caller in
            submit(PendingWrite(change, caller))
        }
        return try result.get()
    }

    /// Does nothing, on the writer's thread. Used to check that the thread responds.
    func turn() {}

    /// Finishes the waiting changes, then closes the connection. Later changes fail with an error that says that the
    /// storage is closed.
    func close() {
        commitWaiting()
        copy = nil
        connection = nil
    }

    /// Copies the database, a megabyte at a time, between the transactions of other callers. The caller must make sure
    /// that no other copy is being made.
    /// - Parameters:
    ///   - path: The path of an existing empty file.
    ///   - isWanted: Called from time to time; false gives the copy up.
    /// - Returns: The result of `query`, which sees the same data as the copy.
    nonisolated func copy<Value: Sendable>(
        to path: String, while isWanted: @Sendable () -> Bool = { true },
        _ query: @Sendable (Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await beginCopy(to: path)
        while true {
            if let value = try await continueCopy(while: isWanted, query) { return value }
            await Task.yield()
        }
    }

    private func beginCopy(to path: String) throws(StorageError) {
        guard let connection else { throw Self.closed }
        copy = try DatabaseCopy(of: connection, to: path)
    }

    /// Copies the next pages and, after the last ones, runs the query.
    /// - Returns: The result of the query; nil if the copy is not complete yet.
    private func continueCopy<Value: Sendable>(
        while isWanted: @Sendable () -> Bool, _ query: @Sendable (Connection) throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        guard let connection, let current = copy else { throw Self.closed }
        do throws(StorageError) {
            guard !Task.isCancelled, isWanted() else { throw StorageError(.unavailable, "The copy was given up.") }
            guard try current.step(pages: Self.pagesPerStep) else { return nil }
            copy = nil
            return try query(connection)
        } catch {
            copy = nil
            throw error
        }
    }

    private static let pagesPerStep = 256

    /// Transfers the log into the database and truncates it to zero length.
    /// - Returns: False if a reader uses the log for so long that it cannot be truncated.
    func emptyLog() throws(StorageError) -> Bool {
        guard let connection else { throw Self.closed }
        // A reader has the log while the gate is closed, and would be waited for.
        guard !gate.isClosed else { return false }
        let isBusy = try connection.first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.bool(0) }
        return isBusy == false
    }

    private static var closed: StorageError { StorageError(.closed, "The storage has been closed.") }

    private nonisolated func submit(_ write: PendingWrite) {
        let isFirst = waiting.withLock { waiting in
            if waiting.writes.isEmpty { waiting.since = .now }
            waiting.writes.append(write)
            return waiting.writes.count == 1
        }
        guard isFirst else { return }
        executor.perform { self.assumeIsolated { $0.commitWaiting() } }
    }

    private func commitWaiting() {
        let (group, since) = waiting.withLock { waiting in
            defer { waiting.writes = [] }
            return (waiting.writes, waiting.since)
        }
        guard !group.isEmpty else { return }
        guard let connection else {
            for write in group { write.fail(Self.closed) }
            return
        }
        guard !gate.isClosed else {
            for write in group { write.fail(WriteGate.refusal) }
            return
        }
        let begun = ContinuousClock.now
        commit(group, on: connection)
        times.withLock { times in
            times.wait.add(begun - since)
            times.commit.add(.now - begun)
        }
    }

    /// Commits a group of changes in one transaction. If the transaction fails, executes the changes again one by one,
    /// so that only the changes that cannot be stored fail.
    private func commit(_ group: [PendingWrite], on connection: Connection) {
        do throws(StorageError) {
            let answers = try transaction(of: group, on: connection)
            commits.add(1, ordering: .relaxed)
            for answer in answers { answer() }
            boundLog(of: connection)
        } catch {
            if group.count == 1 {
                group[0].fail(error)
            } else {
                for write in group { commit([write], on: connection) }
            }
        }
    }

    /// Keeps the log from growing without bound. Normally the checkpointer keeps up. If it cannot, because writes never
    /// pause, the writer itself performs a checkpoint and waits for it.
    private func boundLog(of connection: Connection) {
        guard connection.logPages >= limits.checkpoint else { return }
        if connection.logPages >= limits.most {
            // If this fails, the log keeps growing, and the next commit tries again.
            try? connection.execute("PRAGMA wal_checkpoint(RESTART)")
        } else {
            checkpointer.request()
        }
    }

    private func transaction(
        of group: [PendingWrite], on connection: Connection
    ) throws(StorageError) -> [@Sendable () -> Void] {
        do throws(StorageError) {
            try connection.run("BEGIN IMMEDIATE")
            var answers: [@Sendable () -> Void] = []
            for write in group { answers.append(try write.attempt(connection)) }
            try connection.run("COMMIT")
            connection.tellObservers(isCommitted: true)
            return answers
        } catch {
            connection.tellObservers(isCommitted: false)
            if connection.isInTransaction { try connection.run("ROLLBACK") }
            throw error
        }
    }
}

/// The sizes of the write-ahead log at which it is transferred into the database, in SQLite's pages of 4 KiB.
struct LogLimits: Sendable {
    /// If the log has at least this size, the checkpointer transfers it, concurrently with writes.
    var checkpoint = 1000
    /// If the log has at least this size, the writer transfers it before the next write.
    var most = 16_384
}
