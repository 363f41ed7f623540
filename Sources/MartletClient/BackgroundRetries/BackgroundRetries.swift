/// What the client does by itself in the background: tries again what failed. One round after the other, each through
/// everything that is due.
struct BackgroundRetries {
    enum Phase {
        /// Nothing is due. Becomes `running`.
        case resting
        /// A round is under way. Becomes `running` again, `sleeping` or `resting`.
        case running
        /// Waits for the next round. Becomes `running`.
        case sleeping
    }

    var phase = Phase.resting
    /// Whether something became due during the round.
    var isWanted = false
    /// How many rounds in a row have failed.
    var failures = 0
    var sleeper: Task<Void, Never>?
    /// Who waits for the end of a round that has everything in it.
    var waiting: [CheckedContinuation<Void, Never>] = []

    /// A round has ended.
    /// - Returns: How long to wait before the next; nil where none is needed.
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
