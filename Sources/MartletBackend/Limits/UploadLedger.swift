import Synchronization

/// The sizes of uploads in progress, so that a user's parallel uploads cannot exceed the quota. When an upload is over,
/// its stored record counts against the quota instead.
final class UploadLedger: Sendable {
    private let bytes = Mutex<[String: Int64]>([:])

    /// Adds received bytes to the total size of the user's uploads in progress.
    /// - Parameters:
    ///   - user: The user's name in lower case.
    ///   - limit: The maximum size of all the user's uploads in progress, in bytes.
    /// - Returns: Whether the total is within the limit; otherwise the bytes are not added.
    func add(_ count: Int64, of user: String, limit: Int64) -> Bool {
        bytes.withLock { bytes in
            let sum = (bytes[user] ?? 0) + count
            guard sum <= limit else { return false }
            bytes[user] = sum
            return true
        }
    }

    /// Subtracts the bytes of an upload that is over.
    func remove(_ count: Int64, of user: String) {
        bytes.withLock { bytes in
            let rest = (bytes[user] ?? 0) - count
            bytes[user] = rest > 0 ? rest : nil
        }
    }
}
