/// Measures how many requests per second are answered while more wait than the connections carry. Other times do not
/// count: the rate then shows the demand, not the capacity.
///
/// Requests that were sent together are answered together, so time is measured from one answer to another: it then
/// covers as many round trips as the answers do.
struct HTTP2Throughput: Equatable {
    /// A period in which requests waited without interruption.
    private struct Stretch: Equatable {
        /// When the first answer arrived, which is not counted; before that, when the period began.
        var start: ContinuousClock.Instant
        /// When the last answer arrived.
        var last: ContinuousClock.Instant?
        var answers = 0
    }

    /// The answers in completed periods.
    private var answers = 0
    private var time = Duration.zero
    private var stretch: Stretch?

    /// Records the answers since the last call, and whether requests wait.
    /// - Parameter last: When the last of the answers arrived.
    mutating func record(
        answers count: Int, last: ContinuousClock.Instant, isBusy: Bool, at now: ContinuousClock.Instant
    ) {
        if count > 0 { add(count, last) }
        if isBusy {
            stretch = stretch ?? Stretch(start: now)
        } else if let ended = stretch {
            answers += ended.answers
            time += ended.last.map { $0 - ended.start } ?? .zero
            stretch = nil
        }
    }

    private mutating func add(_ count: Int, _ last: ContinuousClock.Instant) {
        guard let stretch, last > stretch.start else { return }
        if stretch.last == nil {
            self.stretch = Stretch(start: last, last: last)
        } else {
            self.stretch?.last = last
            self.stretch?.answers += count
        }
    }

    /// Returns the answers per second once enough time was measured.
    /// - Parameter silence: The time without an answer after which none is assumed to have arrived.
    func rate(over enough: Duration, silence: Duration, at now: ContinuousClock.Instant) -> Double? {
        var (answers, time, measured) = (answers, time, time)
        if let stretch {
            let isSilent = now - (stretch.last ?? stretch.start) > silence
            answers += stretch.answers
            if isSilent || stretch.last != nil { time += now - stretch.start }
            measured += (isSilent ? now : stretch.last ?? stretch.start) - stretch.start
        }
        return time >= enough && measured > .zero ? Double(answers) / (measured / .seconds(1)) : nil
    }

    /// Starts a new measurement at the last answer.
    mutating func restart() {
        (answers, time) = (0, .zero)
        if let last = stretch?.last { stretch = Stretch(start: last, last: last) }
    }
}
