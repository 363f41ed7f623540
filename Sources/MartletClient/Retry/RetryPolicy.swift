/// How often and how soon a request is tried again that met a problem which may pass.
///
/// Waits double from attempt to attempt up to a limit, and each is drawn at random between nothing and that much, so
/// that the devices of a server that was down do not all come back at once.
public struct RetryPolicy: Hashable, Sendable {
    /// How often a request is sent, at most; 1 tries once.
    public var attempts: Int
    /// The longest wait after the first attempt.
    public var firstWait: Duration
    /// The longest wait of all.
    public var longestWait: Duration

    /// By default six attempts over two minutes at the most.
    public init(attempts: Int = 6, firstWait: Duration = .seconds(2), longestWait: Duration = .seconds(60)) {
        self.attempts = attempts
        self.firstWait = firstWait
        self.longestWait = longestWait
    }

    /// How long to wait after so many attempts.
    /// - Parameters:
    ///   - attempt: From 1.
    ///   - chance: 0 to 1, drawn anew for each wait.
    func wait(after attempt: Int, chance: Double) -> Duration {
        min(longestWait, firstWait * (1 << min(attempt - 1, 20))) * chance
    }
}

/// What the client needs of the world besides the network; replaced in tests.
struct ClientSurroundings: Sendable {
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    var chance: @Sendable () -> Double = { Double.random(in: 0...1) }
}
