/// Finds out why requests wait at a peer: because it is slow, or because it needs that long for each of them.
///
/// With half as many in flight the first answers them in half the time, and the second in the same time. A peer that
/// was slow is asked again after 1 s, doubling to a minute.
struct InFlightProbe: Equatable {
    enum Verdict: Equatable {
        /// Requests wait for each other. They need no longer than this.
        case peerIsSlow(Duration)
        /// Each request takes so long, however few there are.
        case peerNeeds(Duration)
    }

    private struct Trial: Equatable {
        let start: ContinuousClock.Instant
        let limit: Int
        /// How long answers took before.
        let latency: Duration
        /// Of requests that were sent since.
        var latencies = MeanDuration()
        var firstAt: ContinuousClock.Instant?
    }

    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)
    /// How many answers are looked at, at least.
    private static let leastAnswers = 8

    private var trial: Trial?
    private var pause = Self.firstPause
    private var verdictAt: ContinuousClock.Instant?

    /// How many requests may be in flight meanwhile; nil while nothing is to be found out.
    var limit: Int? { trial?.limit }

    /// A round of measurements has ended.
    /// - Parameters:
    ///   - isFull: Whether the limit was in the way all the time, and requests waited about as long as they may.
    ///   - latency: How long answers took.
    ///   - start: When the round began.
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

    /// The limit has closed: where it is below that of the probe, the peer became slower meanwhile.
    mutating func limited(to limit: Int) {
        guard let trial, limit < trial.limit else { return }
        self.trial = nil
    }

    /// An answer has come.
    mutating func answered(after latency: Duration, at now: ContinuousClock.Instant) -> Verdict? {
        // At first the quick ones come, and such as were sent before.
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
