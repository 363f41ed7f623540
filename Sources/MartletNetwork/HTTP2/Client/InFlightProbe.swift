/// Determines why the latency of a peer is high: either requests queue at the peer, or the peer needs that much time
/// for each request.
///
/// A trial halves the number of requests in flight. If requests queue at the peer, they are then answered in half the
/// time; otherwise the latency stays the same. After a verdict, the probe pauses for 1 s; the pause doubles each time,
/// up to a minute.
struct InFlightProbe: Equatable {
    enum Verdict: Equatable {
        /// Requests queue at the peer. The value is an upper bound of the time that each request takes.
        case peerIsSlow(Duration)
        /// Each request takes this long, however few requests are in flight.
        case peerNeeds(Duration)
    }

    private struct Trial: Equatable {
        let start: ContinuousClock.Instant
        let limit: Int
        /// The latency of answers before the trial.
        let latency: Duration
        /// The latencies of requests sent during the trial.
        var latencies = MeanDuration()
        var firstAt: ContinuousClock.Instant?
    }

    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)
    /// The minimum number of answers that a trial needs for a verdict.
    private static let leastAnswers = 8

    private var trial: Trial?
    private var pause = Self.firstPause
    private var verdictAt: ContinuousClock.Instant?

    /// The in-flight limit during a trial; nil if no trial is running.
    var limit: Int? { trial?.limit }

    /// Handles the end of a round of measurements of `InFlightLimit`, and may start a trial. A round that is not full
    /// ends the pause after a verdict.
    /// - Parameters:
    ///   - isFull: Whether the limit held back requests during the whole round, while their latency was about the
    ///     target.
    ///   - start: The time when the round began.
    ///   - latency: The latency of the answers in the round.
    mutating func ended(
        isFull: Bool, from start: ContinuousClock.Instant, limit: Int, latency: Duration,
        at now: ContinuousClock.Instant
    ) {
        guard trial == nil, verdictAt.map({ start >= $0 }) ?? true else { return }
        guard isFull else {
            self = InFlightProbe()
            return
        }
        if limit > 1, verdictAt.map({ now >= $0 + pause }) ?? true {
            pause = verdictAt == nil ? Self.firstPause : min(pause * 2, Self.longestPause)
            trial = Trial(start: now, limit: limit / 2, latency: latency)
        }
    }

    /// Ends the trial without a verdict if the in-flight limit has fallen below the limit of the trial, because the
    /// peer became slower during the trial.
    mutating func limited(to limit: Int) {
        guard let trial, limit < trial.limit else { return }
        self.trial = nil
    }

    /// Records an answer. Returns a verdict if this answer completes the trial.
    mutating func answered(after latency: Duration, at now: ContinuousClock.Instant) -> Verdict? {
        // Early answers are not counted, because they belong to the fastest requests or to requests sent before the
        // trial.
        guard var trial, now >= trial.start + trial.latency * 2 else { return nil }
        trial.latencies.add(latency)
        let firstAt = trial.firstAt ?? now
        trial.firstAt = firstAt
        self.trial = trial
        guard trial.latencies.count >= Self.leastAnswers, now - firstAt >= trial.latency / 2,
            let mean = trial.latencies.mean
        else { return nil }
        self.trial = nil
        verdictAt = now
        return mean > trial.latency * 0.75 ? .peerNeeds(mean) : .peerIsSlow(mean * 1.5)
    }
}
