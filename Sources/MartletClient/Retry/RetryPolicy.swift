/// How often and how soon a request is tried again that met a problem which may pass.
///
/// Waits double from attempt to attempt up to a limit, and each is drawn at random between nothing and that much, so
/// that the devices of a server that was down do not all come back at once.
public struct RetryPolicy: Hashable, Sendable {
    /// How often a request is sent, at most; 1 tries once.
    public var attempts: Int
    /// The longest wait after the first attempt.
    public var firstWait: Duration
    /// The longest wait of all while somebody waits for the outcome.
    public var longestWait: Duration
    /// Whether registrations, log-outs and receipts that failed are tried on in the background.
    public var keepsTrying: Bool
    /// The longest wait in the background.
    public var longestBackgroundWait: Duration

    /// By default six attempts over two minutes at the most, and in the background every quarter of an hour at least.
    public init(
        attempts: Int = 6, firstWait: Duration = .seconds(2), longestWait: Duration = .seconds(60),
        keepsTrying: Bool = true, longestBackgroundWait: Duration = .seconds(900)
    ) {
        self.attempts = attempts
        self.firstWait = firstWait
        self.longestWait = longestWait
        self.keepsTrying = keepsTrying
        self.longestBackgroundWait = longestBackgroundWait
    }

    /// How long to wait after so many attempts.
    /// - Parameters:
    ///   - attempt: From 1.
    ///   - chance: 0 to 1, drawn again for each wait.
    func wait(after attempt: Int, chance: Double) -> Duration {
        wait(after: attempt, atMost: longestWait) * chance
    }

    /// The same in the background, where at least half of it is waited.
    func backgroundWait(after attempt: Int, chance: Double) -> Duration {
        wait(after: attempt, atMost: longestBackgroundWait) * ((1 + chance) / 2)
    }

    private func wait(after attempt: Int, atMost limit: Duration) -> Duration {
        min(limit, firstWait * (1 << min(attempt - 1, 20)))
    }
}
