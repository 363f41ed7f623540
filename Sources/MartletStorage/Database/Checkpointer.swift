import MartletCore
import Synchronization

/// Transfers the write-ahead log into the database on a thread of its own, without blocking the writer.
actor Checkpointer {
    private nonisolated let executor = ThreadExecutor()
    private nonisolated let isRequested = Atomic(false)
    private var connection: Connection?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ connection: sending Connection) {
        self.connection = connection
    }

    /// Requests a checkpoint and returns at once.
    nonisolated func request() {
        guard !isRequested.exchange(true, ordering: .acquiringAndReleasing) else { return }
        executor.perform { self.assumeIsolated { $0.run() } }
    }

    /// Returns when the checkpoints that were requested before this call are done, because the actor runs them first.
    func settle() {}

    func close() {
        connection = nil
    }

    /// Performs a checkpoint. A failure loses no data: the log is kept, and the next request or the writer tries again.
    private func run() {
        isRequested.store(false, ordering: .releasing)
        try? connection?.execute("PRAGMA wal_checkpoint(PASSIVE)")
    }
}
