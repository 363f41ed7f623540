/// Decides when to connect again after a connection broke, and which failure callers get until then. It is a value, so
/// that tests need no server.
struct ReconnectionState: Equatable {
    private var failure: DatabaseFailure?
    private var failedAttempts = 0
    private var nextAttempt: ContinuousClock.Instant?

    enum Step: Equatable {
        case connect
        /// The last attempt failed, and it is too early for the next one. Callers get this failure.
        case refuse(DatabaseFailure)
    }

    func step(at now: ContinuousClock.Instant) -> Step {
        guard let failure, let nextAttempt, now < nextAttempt else { return .connect }
        return .refuse(failure)
    }

    /// Records that an attempt failed. The time until the next attempt doubles with each failure, up to two seconds.
    /// Callers do not wait for the next attempt.
    mutating func fail(_ failure: DatabaseFailure, at now: ContinuousClock.Instant) {
        self.failure = failure
        failedAttempts += 1
        let wait = Duration.milliseconds(100) * (1 << min(failedAttempts - 1, 5))
        nextAttempt = now + min(wait, .seconds(2))
    }

    mutating func succeed() {
        self = ReconnectionState()
    }
}
