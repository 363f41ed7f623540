/// Measures how many requests a second are answered while more wait than the connections can take. Time in which they
/// keep up does not count: what is answered then is what was asked, and not what they could do.
struct HTTP2Throughput: Equatable {
    private var answers = 0
    private var time = Duration.zero
    /// Since when more has been waiting, as far as that is not in `time` yet.
    private var since: ContinuousClock.Instant?

    /// Notes what has come since the last call, and how things stand now.
    mutating func note(answers count: Int, isBusy: Bool, at now: ContinuousClock.Instant) {
        if let since {
            time += now - since
            answers += count
        }
        since = isBusy ? now : nil
    }

    /// Answers a second, once enough time was measured.
    func rate(over enough: Duration) -> Double? {
        time >= enough ? Double(answers) / (time / .seconds(1)) : nil
    }

    /// When enough time will have been measured if nothing changes; nil while nothing is measured.
    func isDone(_ enough: Duration) -> ContinuousClock.Instant? {
        since.map { $0 + (enough - time) }
    }

    /// Begins anew.
    mutating func restart() {
        answers = 0
        time = .zero
    }
}
