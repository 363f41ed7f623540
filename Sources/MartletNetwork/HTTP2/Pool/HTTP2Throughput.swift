/// Measures how many requests a second are answered while more wait than the connections carry. Time in which they keep
/// up does not count: what is answered then is what was asked, and not what they could do.
///
/// Requests that were sent together are answered together, so time is taken from one answer to another: it is then of
/// as many round trips as the answers are.
struct HTTP2Throughput: Equatable {
    /// Time in which something waited without a pause.
    private struct Stretch: Equatable {
        /// When the first answer came, which is not counted; before, when the stretch began.
        var start: ContinuousClock.Instant
        /// When the last answer came.
        var last: ContinuousClock.Instant?
        var answers = 0
    }

    /// Of stretches that are over.
    private var answers = 0
    private var time = Duration.zero
    private var stretch: Stretch?

    /// Records what has come since the last call, and the state.
    /// - Parameter last: When the last of the answers came.
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

    /// Answers a second, once enough time was measured.
    /// - Parameter silence: Without an answer for so long, there was none in that time.
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

    /// Begins again, with the last answer.
    mutating func restart() {
        (answers, time) = (0, .zero)
        if let last = stretch?.last { stretch = Stretch(start: last, last: last) }
    }
}
