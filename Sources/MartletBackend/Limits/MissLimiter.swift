import MartletModel
import Synchronization

/// Slows down users who ask for what is not theirs: ids of payloads are short enough to be tried.
final class MissLimiter: Sendable {
    /// A few hundred ids are what an app may hold whose user was away for long.
    static let size = BucketSize(drops: 300, interval: .seconds(2))

    private let misses = Mutex(FailureBuckets<String>(countLimit: 10_000))

    /// - Parameter user: A folded name.
    /// - Throws: `.tooManyMisses` while the user has had too many.
    func check(_ user: String, at now: Timestamp) throws(BackendError) {
        let wait = misses.withLock { $0.wait(user, Self.size, at: now) }
        guard wait == .zero else { throw .tooManyMisses(retryAfter: wait.components.seconds + 1) }
    }

    func missed(_ user: String, at now: Timestamp) {
        misses.withLock { $0.fill(user, Self.size, at: now) }
    }
}
