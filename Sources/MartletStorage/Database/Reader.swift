import MartletCore
import Synchronization

/// A connection that only reads, on its own thread.
actor Reader {
    private nonisolated let executor: ThreadExecutor
    private nonisolated let load = Atomic<Int>(0)
    private var connection: Connection?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The number of reads that are running on this reader or waiting for it.
    nonisolated var waiting: Int { load.load(ordering: .relaxed) }

    init(_ connection: sending Connection) {
        self.connection = connection
        executor = ThreadExecutor()
    }

    /// Calls `query` with the connection. All reads within one call see the same point in time.
    nonisolated func read<Value: Sendable>(
        _ query: @Sendable (Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        load.add(1, ordering: .relaxed)
        defer { load.subtract(1, ordering: .relaxed) }
        return try await perform(query)
    }

    func close() {
        connection = nil
    }

    private func perform<Value: Sendable>(
        _ query: @Sendable (Connection) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        guard let connection else { throw StorageError(.closed, "The storage has been closed.") }
        try connection.run("BEGIN")
        do throws(StorageError) {
            let value = try query(connection)
            try connection.run("COMMIT")
            return value
        } catch {
            if connection.isInTransaction { try connection.run("ROLLBACK") }
            throw error
        }
    }
}
