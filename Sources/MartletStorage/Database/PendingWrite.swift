import MartletCore

/// A change that waits for the writer, with the caller that waits for the commit.
struct PendingWrite: Sendable {
    /// Makes the change. It may be called twice: if the transaction of several changes fails, each change is made again
    /// in its own transaction. The returned closure reports success to the caller, once the change is on disk.
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
