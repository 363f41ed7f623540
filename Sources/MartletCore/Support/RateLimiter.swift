public import MartletModel
import Synchronization

/// A rate of requests.
public struct RequestRate: Hashable, Sendable {
    /// The average rate.
    public var perSecond: Int
    /// The most requests at once after a rest.
    public var burst: Int

    public static let limit = 1_000_000

    /// - Parameters:
    ///   - perSecond: 1 to `limit`.
    ///   - burst: nil for the requests of ten seconds.
    public init(perSecond: Int, burst: Int? = nil) {
        self.perSecond = perSecond
        self.burst = burst ?? perSecond * 10
    }
}

/// Limits the rate of requests for each key by a token bucket, which fills evenly and holds a burst.
///
/// A bucket is stored as the time when it will be full again. Full buckets are removed when there are too many.
public final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var fullAt: [Key: Int64] = [:]
        /// The time base: nanoseconds since the first token was taken. A clock that is set back neither fills a bucket
        /// nor empties one.
        var elapsed: Int64 = 0
        /// The last reading of the clock, in nanoseconds since 1970.
        var last: Int64?

        mutating func pass(to now: Int64) -> Int64 {
            elapsed += max(0, now - (last ?? now))
            last = now
            return elapsed
        }
    }

    private let state = Mutex(State())
    private let countLimit: Int

    /// - Parameter countLimit: The most keys in memory.
    public init(countLimit: Int) {
        self.countLimit = countLimit
    }

    var count: Int { state.withLock { $0.fullAt.count } }

    /// Takes a token.
    /// - Returns: nil if there was one; otherwise the time until there is one.
    public func take(_ key: Key, at rate: RequestRate, now: Timestamp) -> Duration? {
        let interval = 1_000_000_000 / Int64(rate.perSecond)
        let capacity = interval * Int64(rate.burst)
        return state.withLock { state in
            let now = state.pass(to: now.milliseconds * 1_000_000)
            let known = state.fullAt[key]
            if known == nil, state.fullAt.count >= countLimit { makeRoom(in: &state.fullAt, at: now) }
            // If the rate was increased meanwhile, the bucket is not below empty.
            let start = min(max(known ?? now, now), now + capacity)
            guard start + interval <= now + capacity else {
                state.fullAt[key] = start
                return .nanoseconds(start + interval - now - capacity)
            }
            state.fullAt[key] = start + interval
            return nil
        }
    }

    /// A sweep costs as much as there are keys. So, if no bucket is full, it removes a tenth of them at once.
    private func makeRoom(in fullAt: inout [Key: Int64], at now: Int64) {
        fullAt = fullAt.filter { $0.value > now }
        guard fullAt.count >= countLimit else { return }
        let surplus = fullAt.count - countLimit + max(1, countLimit / 10)
        for (key, _) in fullAt.sorted(by: { $0.value < $1.value }).prefix(surplus) { fullAt[key] = nil }
    }
}

extension Duration {
    /// Whole seconds for `Retry-After`, rounded up: an earlier request would be refused again.
    public var retryAfterSeconds: Int {
        max(1, Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0))
    }
}
