public import MartletModel
import Synchronization

/// A rate of requests, with the burst that it allows.
public struct RequestRate: Hashable, Sendable {
    /// The average number of requests per second.
    public var perSecond: Int
    /// The maximum number of requests at once after an idle time.
    public var burst: Int

    public static let limit = 1_000_000

    /// Creates a rate.
    /// - Parameters:
    ///   - perSecond: The average rate, from 1 to `limit`.
    ///   - burst: The burst; nil for the number of requests in ten seconds.
    public init(perSecond: Int, burst: Int? = nil) {
        self.perSecond = perSecond
        self.burst = burst ?? perSecond * 10
    }
}

/// Limits the rate of requests for each key. Each key has a token bucket, which fills at a constant rate and has room
/// for one burst.
///
/// A bucket is stored as the time at which it will be full again. If there are too many buckets, the full buckets are
/// removed. If none is full, the buckets that would be full first are removed.
public final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var fullAt: [Key: Int64] = [:]
        /// The internal clock, in nanoseconds since the first token was taken. Setting back the wall clock neither
        /// fills nor empties a bucket.
        var elapsed: Int64 = 0
        /// The last reading of the wall clock, in nanoseconds since 1970.
        var last: Int64?

        mutating func pass(to now: Int64) -> Int64 {
            elapsed += max(0, now - (last ?? now))
            last = now
            return elapsed
        }
    }

    private let state = Mutex(State())
    private let countLimit: Int

    /// Creates a limiter.
    /// - Parameter countLimit: The maximum number of keys in memory.
    public init(countLimit: Int) {
        self.countLimit = countLimit
    }

    var count: Int { state.withLock { $0.fullAt.count } }

    /// Takes tokens: one for a request, or as many as the request costs.
    /// - Parameter count: The number of tokens, at most `rate.burst`.
    /// - Returns: nil if the tokens were available; otherwise the time until they are, and none is taken.
    public func take(_ key: Key, count: Int = 1, at rate: RequestRate, now: Timestamp) -> Duration? {
        let interval = 1_000_000_000 / Int64(rate.perSecond)
        let capacity = interval * Int64(rate.burst)
        let cost = interval * Int64(count)
        return state.withLock { state in
            let now = state.pass(to: now.milliseconds * 1_000_000)
            let known = state.fullAt[key]
            if known == nil, state.fullAt.count >= countLimit { makeRoom(in: &state.fullAt, at: now) }
            // If the rate was increased since the last request, the stored time can be too late for the new capacity;
            // the upper bound keeps the bucket from being below empty.
            let start = min(max(known ?? now, now), now + capacity)
            guard start + cost <= now + capacity else {
                state.fullAt[key] = start
                return .nanoseconds(start + cost - now - capacity)
            }
            state.fullAt[key] = start + cost
            return nil
        }
    }

    /// Removes the full buckets. If there are none, removes the tenth of the buckets that would be full first. So many
    /// are removed at once because every call of this function reads all buckets.
    private func makeRoom(in fullAt: inout [Key: Int64], at now: Int64) {
        fullAt = fullAt.filter { $0.value > now }
        guard fullAt.count >= countLimit else { return }
        let surplus = fullAt.count - countLimit + max(1, countLimit / 10)
        for (key, _) in fullAt.sorted(by: { $0.value < $1.value }).prefix(surplus) { fullAt[key] = nil }
    }
}

extension Duration {
    /// The duration in whole seconds for `Retry-After`, at least 1. It is rounded up, because an earlier request would
    /// be refused again.
    public var retryAfterSeconds: Int {
        max(1, Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0))
    }
}
