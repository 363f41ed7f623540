public import MartletModel

/// When a push is tried again: exponential back-off with full jitter above what the service asked for.
public struct RetryPolicy: Sendable {
    /// The longest wait that doubling leads to.
    public var ceiling: Duration
    /// The part of the wait, on top of the least one, that is left to chance: 1 means up to as much again.
    public var jitter: Double
    /// What doubles where a service asks for less: no wait at all would stay none however often it is doubled.
    private static let shortestWait: Duration = .seconds(1)

    /// The longest wait that nobody asked for.
    var longestWait: Duration { ceiling * (1 + jitter) }

    public init(ceiling: Duration = .seconds(3600), jitter: Double = 1) {
        self.ceiling = ceiling
        self.jitter = jitter
    }

    /// When to try again, or nil where that would be after the message has expired.
    /// - Parameters:
    ///   - least: The wait after the first attempt; it doubles with each further one.
    ///   - attempts: Attempts made so far, from 1.
    ///   - chance: 0 up to 1.
    public func next(
        after least: Duration, attempts: Int, now: Timestamp, expiresAt: Timestamp, chance: Double
    ) -> Timestamp? {
        let least = max(least, Self.shortestWait)
        let doubled = least * Double(1 << min(max(attempts, 1) - 1, 30))
        let wait = max(least, min(doubled, ceiling))
        let due = now + wait * (1 + jitter * chance)
        return due < expiresAt ? due : nil
    }
}
