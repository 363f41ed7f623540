/// When a connection is made again, and what callers hear meanwhile. A value, so that it is tested without a server.
struct ReconnectionState: Equatable {
    private var failure: DatabaseFailure?
    private var failedAttempts = 0
    private var nextAttempt: ContinuousClock.Instant?

    enum Step: Equatable {
        case connect
        /// The attempt before failed, and it is too early for the next.
        case refuse(DatabaseFailure)
    }

    func step(at now: ContinuousClock.Instant) -> Step {
        guard let failure, let nextAttempt, now < nextAttempt else { return .connect }
        return .refuse(failure)
    }

    /// Records that an attempt failed. The wait doubles with each one, and no caller waits for it.
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
