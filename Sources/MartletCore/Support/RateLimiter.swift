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
/// A bucket is one point in time, that at which it will be full again. Full ones are forgotten where there are too many.
public final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var fullAt: [Key: Int64] = [:]
        /// What all times are on: nanoseconds that have passed since the first token was taken. A clock that is set back
        /// neither fills a bucket nor empties one.
        var elapsed: Int64 = 0
        /// On the clock, in nanoseconds since 1970.
        var last: Int64?

        mutating func pass(to now: Int64) -> Int64 {
            elapsed += max(0, now - (last ?? now))
            last = now
            return elapsed
        }
    }

    private let state = Mutex(State())
    private let countLimit: Int

    /// - Parameter countLimit: How many keys are remembered.
    public init(countLimit: Int) {
        self.countLimit = countLimit
    }

    var count: Int { state.withLock { $0.fullAt.count } }

    /// Takes a token.
    /// - Returns: nil where there was one; else how long it takes until there is.
    public func take(_ key: Key, at rate: RequestRate, now: Timestamp) -> Duration? {
        let interval = 1_000_000_000 / Int64(rate.perSecond)
        let capacity = interval * Int64(rate.burst)
        return state.withLock { state in
            let now = state.pass(to: now.milliseconds * 1_000_000)
            let known = state.fullAt[key]
            if known == nil, state.fullAt.count >= countLimit { makeRoom(in: &state.fullAt, at: now) }
            // Where the rate has become higher since, what was taken is no more than an empty bucket.
            let start = min(max(known ?? now, now), now + capacity)
            guard start + interval <= now + capacity else {
                state.fullAt[key] = start
                return .nanoseconds(start + interval - now - capacity)
            }
            state.fullAt[key] = start + interval
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
