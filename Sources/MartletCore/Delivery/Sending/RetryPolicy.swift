public import MartletModel

/// Decides when a push is tried again: exponential back-off with full jitter, and never before the wait that the
/// service asked for is over.
public struct RetryPolicy: Sendable {
    /// The longest wait that doubling leads to, without jitter.
    public var ceiling: Duration
    /// The share of the wait that is added at random at most: with 1 the wait is up to twice as long.
    public var jitter: Double
    /// The shortest wait that is doubled. A wait of zero would stay zero.
    private static let shortestWait: Duration = .seconds(1)

    /// The longest wait unless a service asks for a longer one.
    var longestWait: Duration { ceiling * (1 + jitter) }

    public init(ceiling: Duration = .seconds(3600), jitter: Double = 1) {
        self.ceiling = ceiling
        self.jitter = jitter
    }

    /// Returns when to try again, or nil if the message expires before that.
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
