import MartletCore

/// A change that waits for the writer, with the caller that waits for its commit.
struct PendingWrite: Sendable {
    /// Does the change; may be called again after a transaction was lost. What it returns tells the caller of the
    /// success, once that is on disk.
    let attempt: @Sendable (Connection) throws(StorageError) -> @Sendable () -> Void
    let fail: @Sendable (StorageError) -> Void

    init<Value: Sendable>(
        _ change: @escaping @Sendable (Connection) throws(StorageError) -> Value,
        _ caller: CheckedContinuation<Result<Value, StorageError>, Never>
    ) {
        attempt = { connection throws(StorageError) in
            let value = try change(connection)
            return { caller.resume(returning: .success(value)) }
        }
        fail = { error in caller.resume(returning: .failure(error)) }
    }
}
