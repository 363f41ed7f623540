/// The policy that states how often and how soon a request is retried after a temporary failure.
///
/// The maximum wait doubles from attempt to attempt, up to a limit. Each wait is drawn at random up to that maximum, so
/// that after an outage not all devices contact the server at the same time. In the background, a wait is at least half
/// of the maximum.
public struct RetryPolicy: Hashable, Sendable {
    /// The maximum number of times that a request is sent; 1 means no retry.
    public var attempts: Int
    /// The maximum wait after the first attempt.
    public var firstWait: Duration
    /// The maximum wait between attempts while a caller waits for the result.
    public var longestWait: Duration
    /// Whether failed registrations, log-outs and receipts are retried in the background.
    public var keepsTrying: Bool
    /// The maximum wait between attempts in the background.
    public var longestBackgroundWait: Duration

    /// Creates a policy. The default is six attempts, with waits of about a minute in total at most. After that,
    /// registrations, log-outs and receipts are retried in the background, at intervals of at most 15 minutes.
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

    /// Returns how long to wait after an attempt.
    /// - Parameters:
    ///   - attempt: The number of the attempt, from 1.
    ///   - chance: A random number from 0 to 1, drawn again for each wait.
    func wait(after attempt: Int, chance: Double) -> Duration {
        wait(after: attempt, atMost: longestWait) * chance
    }

    /// Returns how long to wait after an attempt in the background: at least half of the maximum wait.
    func backgroundWait(after attempt: Int, chance: Double) -> Duration {
        wait(after: attempt, atMost: longestBackgroundWait) * ((1 + chance) / 2)
    }

    private func wait(after attempt: Int, atMost limit: Duration) -> Duration {
        min(limit, firstWait * (1 << min(attempt - 1, 20)))
    }
}
