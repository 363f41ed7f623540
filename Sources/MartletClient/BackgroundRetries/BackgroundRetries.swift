/// The state of the client's background retries of registrations, log-outs and receipts. The retries run in rounds, one
/// after another. Each round retries all work that is due.
struct BackgroundRetries {
    enum Phase {
        /// No round runs, and none is planned. The next phase is `running`.
        case resting
        /// A round is in progress. The next phase is `running` (for one more round), `sleeping` or `resting`.
        case running
        /// The client waits for the next round. The next phase is `running`.
        case sleeping
    }

    var phase = Phase.resting
    /// Whether more work became due during the current round, so that one more round follows at once.
    var isWanted = false
    /// The number of failures in a row, which lengthens the wait before the next round. It includes the failed call of
    /// the app that started the rounds.
    var failures = 0
    var sleeper: Task<Void, Never>?
    /// The callers of `resume`, which return when a round has tried all work that is due.
    var waiting: [CheckedContinuation<Void, Never>] = []

    /// Records the end of a round, and the failure of its work if there was one.
    /// - Returns: The wait before the next round; zero if more work became due during this round. nil if no round
    ///   follows, because nothing failed, or because `retry` allows no background retries.
    mutating func end(_ failure: RetryableFailure?, retry: RetryPolicy, chance: Double) -> Duration? {
        if isWanted { return .zero }
        guard let failure else {
            failures = 0
            phase = .resting
            return nil
        }
        failures += 1
        guard retry.keepsTrying else {
            phase = .resting
            return nil
        }
        phase = .sleeping
        return max(failure.shortestWait, retry.backgroundWait(after: failures, chance: chance))
    }
}
