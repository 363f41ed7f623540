public import MartletModel

/// Decides when a push is tried again: exponential back-off with random jitter, but never before the end of the wait
/// that the service asked for.
public struct RetryPolicy: Sendable {
    /// The maximum wait before jitter is added. The wait doubles with each attempt until it reaches this value.
    public var ceiling: Duration
    /// The maximum share of the wait that is added at random. With 1, the wait is up to twice as long.
    public var jitter: Double
    /// The minimum wait after the first attempt. A wait of zero would stay zero when it is doubled.
    private static let shortestWait: Duration = .seconds(1)

    /// The maximum wait, as long as no service asks for a longer one.
    var longestWait: Duration { ceiling * (1 + jitter) }

    public init(ceiling: Duration = .seconds(3600), jitter: Double = 1) {
        self.ceiling = ceiling
        self.jitter = jitter
    }

    /// Returns the time of the next attempt; nil if the message expires before that time.
    /// - Parameters:
    ///   - least: The wait after the first attempt. The wait doubles with each further attempt.
    ///   - attempts: The number of attempts made so far, at least 1.
    ///   - chance: A random number from 0 up to 1.
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
