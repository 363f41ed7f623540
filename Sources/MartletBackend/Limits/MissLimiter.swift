import MartletModel
import Synchronization

/// A limiter that slows down users with too many misses. A miss is a request for a payload that is not the user's. The
/// limit is needed because payload ids are short enough to be guessed. Requests for a user's own payloads are not
/// limited.
final class MissLimiter: Sendable {
    /// The size of a user's bucket. It allows a few hundred misses, because an app may hold that many expired ids after
    /// its user was away for a long time.
    static let size = BucketSize(drops: 300, interval: .seconds(2))

    private let misses = Mutex(FailureBuckets<String>(countLimit: 10_000))

    /// Checks that a user does not have too many misses.
    /// - Parameter user: The user's name in lower case.
    /// - Throws: `.tooManyMisses` while the user has too many misses.
    func check(_ user: String, at now: Timestamp) throws(BackendError) {
        let wait = misses.withLock { $0.wait(user, Self.size, at: now) }
        guard wait == .zero else { throw .tooManyMisses(retryAfter: wait.components.seconds + 1) }
    }

    func missed(_ user: String, at now: Timestamp) {
        misses.withLock { $0.fill(user, Self.size, at: now) }
    }
}
