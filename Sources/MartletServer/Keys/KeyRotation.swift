import MartletCore
import MartletCrypto
import MartletStorage

/// Changes the key that secrets are sealed with, while the server serves.
///
/// A new key is on disk before it seals anything, and an old one is forgotten only after nothing is sealed with it: what
/// is stored opens whenever the process ends.
struct KeyRotation: Sendable {
    let keys: ServerKeys
    let storage: SQLiteStorage

    struct Status: Sendable {
        /// Newest first, in hexadecimal digits.
        var ids: [String]
        /// How many secrets are not sealed with the newest.
        var left: Int64
    }

    /// How long one request may take.
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

    /// Seals again what older keys have sealed, for a few seconds.
    func reseal() async throws(ServerError) -> Status {
        _ = try await stored { () throws(StorageError) in try await storage.reseal(before: .now + Self.portion) }
        return try await status()
    }

    /// Forgets the keys that nothing is sealed with any more.
    func retire() async throws(ServerError) -> Status {
        // A key that comes meanwhile is newer: what it seals is none of this.
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

    /// Goes on with what a process before this one did not finish.
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
