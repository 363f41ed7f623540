import MartletCore
import MartletCrypto

/// Rotates the key with which secrets are sealed, while the server runs.
///
/// If the process ends at any point, stored secrets can still be opened: a new key is on disk before any secret is
/// sealed with it, and an old key is removed only when no secret is sealed with it any more.
struct KeyRotation: Sendable {
    let keys: ServerKeys
    let storage: any ServerStorage

    struct Status: Sendable {
        /// The ids of the keys, newest first, in hexadecimal digits.
        var ids: [String]
        /// The number of secrets that are not sealed with the newest key.
        var left: Int64
    }

    /// The maximum time that one request spends on sealing secrets again.
    private static let portion: Duration = .seconds(10)

    func status() async throws(ServerError) -> Status {
        try await stored { () throws(StorageError) in
            Status(ids: keys.ids.map(Hex.encode), left: try await storage.sealedOtherwise())
        }
    }

    /// Makes a new key. All secrets are sealed with it from now on.
    /// - Throws: `ServerError` if other nodes use the same database. These nodes do not have the new key, so they could
    ///   not open secrets that are sealed with it.
    func rotate() async throws(ServerError) -> Status {
        if let nodes = storage.nodeStore {
            let living = try await stored { () throws(StorageError) in try await nodes.nodes().count(where: \.isAlive) }
            guard living <= 1 else {
                throw ServerError(
                    "\(living) nodes use the database, and each needs the new key. Stop all but this one, rotate the key, "
                        + "and copy secret.key to the others before they start.")
            }
        }
        try keys.rotate()
        return try await status()
    }

    /// Seals secrets of older keys with the newest key, for at most ten seconds.
    func reseal() async throws(ServerError) -> Status {
        _ = try await stored { () throws(StorageError) in try await storage.reseal(before: .now + Self.portion) }
        return try await status()
    }

    /// Removes all keys but the newest.
    /// - Throws: `ServerError` if a secret is still sealed with an older key, or if the keys are in the environment,
    ///   which only the operator can change.
    func retire() async throws(ServerError) -> Status {
        // A key that is added while this method runs is newer than `newest`, so it is kept.
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
