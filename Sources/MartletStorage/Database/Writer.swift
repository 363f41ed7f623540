import MartletCore
import Synchronization

/// The one connection that writes, on its own thread. Everything that waits when it comes round is one transaction
/// (group commit), and each caller resumes after the commit.
///
/// Changes have no savepoints: SQLite would copy every page before its first change in each, and at the end of every
/// statement walk through all of these copies, which makes a long change cost the square of its length. Where a change
/// fails, which is rare, the others of its group are done again.
actor Writer {
    private nonisolated let executor: ThreadExecutor
    private nonisolated let waiting = Locked(Queue())
    private nonisolated let times = Locked(WriteTimes())
    private nonisolated let commits = Atomic<Int>(0)
    private nonisolated let checkpointer: Checkpointer
    private nonisolated let limits: LogLimits
    private var connection: Connection?
    private var copy: DatabaseCopy?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// What waits for the next transaction.
    private struct Queue: Sendable {
        var writes: [PendingWrite] = []
        /// When the first of them came.
        var since = ContinuousClock.now
    }

    /// How long writes took so far.
    nonisolated var writeTimes: WriteTimes { times.withLock { $0 } }

    /// How many transactions have been committed.
    nonisolated var commitCount: Int { commits.load(ordering: .relaxed) }

    /// How many changes wait for the next transaction.
    nonisolated var waitingCount: Int { waiting.withLock { $0.writes.count } }

    /// - Parameter connection: Migrated, and used by nobody else from now on.
    init(_ connection: sending Connection, checkpointer: Checkpointer, limits: LogLimits = LogLimits()) {
        self.connection = connection
        self.checkpointer = checkpointer
        self.limits = limits
        executor = ThreadExecutor()
    }

    /// Does a change and returns when it is on disk.
    /// - Parameter change: May run twice, so it must have no effect but on the connection.
    nonisolated func write<Value: Sendable>(
        _ change: @escaping @Sendable (Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let result = await withCheckedContinuation { caller in
            submit(PendingWrite(change, caller))
        }
        return try result.get()
    }

    /// Does nothing, on the thread that writes.
    func turn() {}

    /// Finishes what waits, then closes the connection. Later changes fail as closed.
    func close() {
        commitWaiting()
        copy = nil
        connection = nil
    }

    /// Copies the database, a megabyte at a time, between the transactions of others. One copy is made at a time.
    /// - Parameter path: An existing empty file.
    /// - Returns: What `query` read at the time that the copy shows.
    nonisolated func copy<Value: Sendable>(
        to path: String, _ query: @Sendable (Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await beginCopy(to: path)
        while true {
            if let value = try await continueCopy(query) { return value }
            await Task.yield()
        }
    }

    private func beginCopy(to path: String) throws(StorageError) {
        guard let connection else { throw Self.closed }
        copy = try DatabaseCopy(of: connection, to: path)
    }

    /// - Returns: nil where the copy is to be continued.
    private func continueCopy<Value: Sendable>(
        _ query: @Sendable (Connection) throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        guard let connection, let current = copy else { throw Self.closed }
        do throws(StorageError) {
            guard !Task.isCancelled else { throw StorageError(.unavailable, "The copy was given up.") }
            guard try current.step(pages: Self.pagesPerStep) else { return nil }
            copy = nil
            return try query(connection)
        } catch {
            copy = nil
            throw error
        }
    }

    private static let pagesPerStep = 256

    /// Carries the log into the database and cuts it to nothing.
    /// - Returns: false where somebody reads what is in it for so long that it has to stay.
    func emptyLog() throws(StorageError) -> Bool {
        guard let connection else { throw Self.closed }
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
        let begun = ContinuousClock.now
        commit(group, on: connection)
        times.withLock { times in
            times.wait.add(begun - since)
            times.commit.add(.now - begun)
        }
    }

    /// A transaction that is lost is done again change by change, so that only what cannot be stored fails.
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

    /// Normally the checkpointer keeps up. Where it cannot, because writes never pause, the writer waits for it once.
    private func boundLog(of connection: Connection) {
        guard connection.logPages >= limits.checkpoint else { return }
        if connection.logPages >= limits.most {
            // Where this fails the log grows on, and the next commit tries again.
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

/// Sizes of the write-ahead log, in pages of 4 KiB.
struct LogLimits: Sendable {
    /// From here on it is carried into the database beside the writes.
    var checkpoint = 1000
    /// And from here on before the next write.
    var most = 16_384
}
