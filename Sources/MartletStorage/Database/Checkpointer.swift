import MartletCore
import Synchronization

/// Carries the write-ahead log into the database on a thread of its own, beside the writer and never in its way.
actor Checkpointer {
    private nonisolated let executor = ThreadExecutor()
    private nonisolated let isRequested = Atomic(false)
    private var connection: Connection?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ connection: sending Connection) {
        self.connection = connection
    }

    /// Asks for a checkpoint; returns at once.
    nonisolated func request() {
        guard !isRequested.exchange(true, ordering: .acquiringAndReleasing) else { return }
        executor.perform { self.assumeIsolated { $0.run() } }
    }

    /// Returns once what was requested before is done.
    func settle() {}

    func close() {
        connection = nil
    }

    /// A failure loses nothing: the log stays, and the next request or the writer itself tries again.
    private func run() {
        isRequested.store(false, ordering: .releasing)
        try? connection?.execute("PRAGMA wal_checkpoint(PASSIVE)")
    }
}
