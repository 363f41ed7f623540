import MartletCore
import MartletCrypto
import MartletStorage

/// Rotates the key with which secrets are sealed, while the server runs.
///
/// A new key is on disk before anything is sealed with it, and an old key is removed only when nothing is sealed with
/// it anymore. So stored secrets can be opened at whatever point the process ends.
struct KeyRotation: Sendable {
    let keys: ServerKeys
    let storage: SQLiteStorage

    struct Status: Sendable {
        /// The ids of the keys, newest first, in hexadecimal digits.
        var ids: [String]
        /// The number of secrets that are not sealed with the newest key.
        var left: Int64
    }

    /// The maximum time that one request reseals secrets.
    private static let portion: Duration = .seconds(10)

    func status() async throws(ServerError) -> Status {
        try await stored { () throws(StorageError) in
            Status(ids: keys.ids.map(Hex.encode), left: try await storage.sealedOtherwise())
        }
    }

    /// Makes a new key, with which everything is sealed from now on.
    func rotate() async throws(ServerError) -> Status {
        try keys.rotate()
        return try await status()
    }

    /// Seals secrets of older keys with the newest key, for a few seconds.
    func reseal() async throws(ServerError) -> Status {
        _ = try await stored { () throws(StorageError) in try await storage.reseal(before: .now + Self.portion) }
        return try await status()
    }

    /// Removes the keys with which no secret is sealed anymore.
    func retire() async throws(ServerError) -> Status {
        // Only keys that are older than the current newest key are removed. A key that is added while this runs is
        // newer, so it is kept.
        let newest = keys.mark
        let status = try await status()
        guard status.left == 0 else {
            throw ServerError(
                "\(status.left) secrets are sealed with older keys still; wait until they are sealed anew.")
        }
        guard status.ids.count > 1 else { return status }
        try keys.retire(olderThan: newest)
        return try await self.status()
    }

    /// Continues a rotation that an earlier process did not finish.
    func finish() async throws(ServerError) {
        guard keys.ids.count > 1 else { return }
        while !Task.isCancelled, try await reseal().left > 0 {}
    }

    private func stored<Value>(_ work: () async throws(StorageError) -> Value) async throws(ServerError) -> Value {
        do throws(StorageError) {
            return try await work()
        } catch {
            throw ServerError(error.detail)
        }
    }
}
