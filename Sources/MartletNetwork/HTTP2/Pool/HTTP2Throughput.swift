/// Measures how many requests per second are answered while more requests wait than the connections can carry.
///
/// Other periods are not counted, because in them the rate shows the demand, not the capacity.
///
/// Requests that were sent together are answered together. Time is therefore measured from the first answer of a period
/// to the last. The first answer itself is not counted, so that the measured time covers as many round trips as the
/// counted answers took.
struct HTTP2Throughput: Equatable {
    /// A period in which requests waited without interruption.
    private struct Stretch: Equatable {
        /// The arrival time of the first answer, which is not counted; the beginning of the period if no answer has
        /// arrived yet.
        var start: ContinuousClock.Instant
        /// The arrival time of the last answer in the period.
        var last: ContinuousClock.Instant?
        var answers = 0
    }

    /// The number of answers in completed periods.
    private var answers = 0
    private var time = Duration.zero
    private var stretch: Stretch?

    /// Records the number of answers since the last call, and whether requests are waiting.
    /// - Parameter last: The arrival time of the last of these answers.
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

    /// Returns the answers per second; nil until enough time has been measured.
    /// - Parameter silence: If no answer has arrived for this long, the time since the last answer is counted too.
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

    /// Discards the measurement and starts a new measurement at the time of the last answer.
    mutating func restart() {
        (answers, time) = (0, .zero)
        if let last = stretch?.last { stretch = Stretch(start: last, last: last) }
    }
}
