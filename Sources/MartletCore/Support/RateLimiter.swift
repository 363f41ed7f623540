public import MartletModel
import Synchronization

/// How fast something may come.
public struct RequestRate: Hashable, Sendable {
    /// In the long run.
    public var perSecond: Int
    /// How many may come at once after a rest.
    public var burst: Int

    public static let limit = 1_000_000

    /// - Parameters:
    ///   - perSecond: 1 to `limit`.
    ///   - burst: What comes in ten seconds where nothing is said.
    public init(perSecond: Int, burst: Int? = nil) {
        self.perSecond = perSecond
        self.burst = burst ?? perSecond * 10
    }
}

/// Lets requests through at a rate for each key: a bucket of tokens that fills evenly and holds a burst.
///
/// A bucket is one moment, the one at which it will be full again. Full ones are forgotten where there are too many.
public final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    /// In nanoseconds since 1970.
    private let fullAt = Mutex<[Key: Int64]>([:])
    private let countLimit: Int

    /// - Parameter countLimit: How many keys are remembered.
    public init(countLimit: Int) {
        self.countLimit = countLimit
    }

    var count: Int { fullAt.withLock { $0.count } }

    /// Takes a token.
    /// - Returns: nil where there was one; else how long it takes until there is.
    public func take(_ key: Key, at rate: RequestRate, now: Timestamp) -> Duration? {
        let now = now.milliseconds * 1_000_000
        let interval = 1_000_000_000 / Int64(rate.perSecond)
        let capacity = interval * Int64(rate.burst)
        return fullAt.withLock { fullAt in
            let known = fullAt[key]
            if known == nil, fullAt.count >= countLimit { makeRoom(in: &fullAt, at: now) }
            // A clock that was set back must not keep anybody out for longer than an empty bucket does.
            let start = min(max(known ?? now, now), now + capacity)
            guard start + interval <= now + capacity else {
                fullAt[key] = start
                return .nanoseconds(start + interval - now - capacity)
            }
            fullAt[key] = start + interval
            return nil
        }
    }

    /// A sweep costs as much as there are keys, so it drops a tenth of them at once where none is full.
    private func makeRoom(in fullAt: inout [Key: Int64], at now: Int64) {
        fullAt = fullAt.filter { $0.value > now }
        guard fullAt.count >= countLimit else { return }
        let surplus = fullAt.count - countLimit + max(1, countLimit / 10)
        for (key, _) in fullAt.sorted(by: { $0.value < $1.value }).prefix(surplus) { fullAt[key] = nil }
    }
}

extension Duration {
    /// Whole seconds for `Retry-After`, rounded up: earlier than that would be refused again.
    public var retryAfterSeconds: Int {
        max(1, Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0))
    }
}
