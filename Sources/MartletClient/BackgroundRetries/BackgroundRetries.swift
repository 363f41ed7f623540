/// The client's retries in the background. They run in rounds, one after another; each round retries everything that is
/// due.
struct BackgroundRetries {
    enum Phase {
        /// Nothing is due. The next phase is `running`.
        case resting
        /// A round is in progress. The next phase is `running` (another round), `sleeping` or `resting`.
        case running
        /// The client waits for the next round. The next phase is `running`.
        case sleeping
    }

    var phase = Phase.resting
    /// Whether more work became due during the current round.
    var isWanted = false
    /// The number of failed rounds in a row.
    var failures = 0
    var sleeper: Task<Void, Never>?
    /// The callers of `resume` that wait until a round has tried everything that is due.
    var waiting: [CheckedContinuation<Void, Never>] = []

    /// Records the end of a round.
    /// - Returns: The wait before the next round; nil if none is needed.
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
