import Synchronization

/// What users are sending at the moment, so that many uploads at once are no way around the quota. It is counted for
/// good when an upload is over and its record is added.
final class UploadLedger: Sendable {
    private let bytes = Mutex<[String: Int64]>([:])

    /// Counts bytes that have come.
    /// - Parameters:
    ///   - user: A folded name.
    ///   - limit: The most bytes of all the user's uploads.
    /// - Returns: Whether they are within the limit; where not, they do not count.
    func add(_ count: Int64, of user: String, limit: Int64) -> Bool {
        bytes.withLock { bytes in
            let sum = (bytes[user] ?? 0) + count
            guard sum <= limit else { return false }
            bytes[user] = sum
            return true
        }
    }

    /// Takes back what was counted for an upload that is over.
    func remove(_ count: Int64, of user: String) {
        bytes.withLock { bytes in
            let rest = (bytes[user] ?? 0) - count
            bytes[user] = rest > 0 ? rest : nil
        }
    }
}
