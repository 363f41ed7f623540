import MartletModel

/// Stops sending to a lane, an origin or a device that seems to fail.
///
/// While the breaker is closed, every push may be sent. A pause begins after enough failures in a row, or when the
/// owner of the breaker requests it. During a pause nothing is sent. Each pause is twice as long as the previous one,
/// up to a maximum, until the breaker is closed. After a pause one probe is sent, and all other pushes wait for its
/// result. If the probe fails, the next pause begins. If the probe is answered, the breaker is closed. Failures of
/// pushes that were sent before a pause do not lengthen the pause. If the clock is set back, the pause ends, because
/// the timestamp of its end is no longer meaningful.
struct CircuitBreaker: Sendable, Equatable {
    struct Terms: Sendable, Equatable {
        /// The number of failures in a row that begin a pause.
        var failures: Int
        var firstPause: Duration
        var longestPause: Duration

        static let lane = Terms(failures: 1, firstPause: .seconds(1), longestPause: .seconds(60))
        /// The failure limit and the pauses of an origin. The pauses are longer than those of a lane: a lane can have
        /// many origins, and some of the origins that devices have chosen never work again.
        static let origin = Terms(failures: 1, firstPause: .seconds(5), longestPause: .seconds(900))
        /// The failure limit and the pauses of a device. A broken connection counts as one failure of the device, and a
        /// failed request as three failures.
        static let device = Terms(failures: 3, firstPause: .seconds(1), longestPause: .seconds(60))
        /// The failure limit and the pauses of the failing devices at a paused origin. The longest pause is that of a
        /// device, so that a device does not wait much longer than others when the origin works again.
        static let failingDevices = Terms(failures: 1, firstPause: .seconds(5), longestPause: .seconds(60))
    }

    /// Whether a push may be sent now.
    enum Entry: Sendable, Equatable {
        case free
        case probe
        case paused(until: Timestamp)
    }

    /// Why nothing may be sent, and until when.
    enum Wait: Sendable, Equatable {
        case pause(until: Timestamp)
        /// A probe is in progress. It may end earlier.
        case probe(until: Timestamp)
    }

    private let terms: Terms
    private(set) var pausedUntil: Timestamp?
    private(set) var pauses = 0
    private var failures = 0
    /// The time until which other pushes wait for the probe in progress.
    private var probedUntil: Timestamp?
    private var clock = ClockWatch()

    init(_ terms: Terms) {
        self.terms = terms
    }

    var isClosed: Bool { pauses == 0 }

    /// Returns whether a push may be sent now. If the push becomes the probe, all other pushes wait until the probe
    /// ends.
    /// - Parameter duration: The maximum duration of a probe, after which another probe may be sent.
    mutating func enter(at now: Timestamp, probeDuration duration: Duration) -> Entry {
        if isClosed { return .free }
        switch wait(at: now) {
        case .pause(let until): return .paused(until: until)
        // Most probes end quickly, so waiting pushes ask again before the probe's maximum duration is over.
        case .probe(let until): return .paused(until: min(until, now + terms.firstPause))
        case nil:
            beginProbe(at: now, duration: duration)
            return .probe
        }
    }

    /// Returns why nothing may be sent now; nil if the breaker is closed, or if a probe may be sent.
    mutating func wait(at now: Timestamp) -> Wait? {
        if isClosed { return nil }
        if clock.setBack(at: now) != nil { (pausedUntil, probedUntil) = (nil, nil) }
        if let until = pausedUntil, until > now { return .pause(until: until) }
        if let until = probedUntil, until > now { return .probe(until: until) }
        return nil
    }

    mutating func beginProbe(at now: Timestamp, duration: Duration) {
        probedUntil = now + duration
    }

    /// Ends a probe that has not shown whether sending works, so that another push may become the probe.
    mutating func endProbe() {
        probedUntil = nil
    }

    /// Records the failure of pushes that got no answer.
    /// - Parameter isProbe: Whether the pushes were admitted as a probe after a pause.
    mutating func fail(_ count: Int = 1, isProbe: Bool, at now: Timestamp) {
        failures = min(failures + count, terms.failures)
        guard isClosed ? failures >= terms.failures : isProbe else { return }
        _ = pause(isProbe: isProbe, at: now)
    }

    /// Begins a pause or extends the current pause. The pause then lasts at least `least` from now.
    /// - Parameter isProbe: Whether the failure is that of a probe, the push that tests the service after a pause.
    /// - Returns: The end of the pause.
    mutating func pause(atLeast least: Duration = .zero, isProbe: Bool, at now: Timestamp) -> Timestamp {
        if clock.setBack(at: now) != nil { pausedUntil = nil }
        guard isClosed || isProbe else {
            let until = max(pausedUntil ?? now, now + least)
            pausedUntil = until
            return until
        }
        let doubled = terms.firstPause * (1 << min(pauses, 20))
        let until = now + max(least, min(doubled, terms.longestPause))
        pauses += 1
        probedUntil = nil
        pausedUntil = max(until, pausedUntil ?? until)
        return pausedUntil ?? until
    }

    /// Restores a pause that an earlier process began.
    mutating func restore(until timestamp: Timestamp) {
        pausedUntil = max(timestamp, pausedUntil ?? timestamp)
        pauses = max(pauses, 1)
    }

    /// Ends the current pause, so that a probe may be sent at once. If the probe fails, the next pause is twice as long
    /// as a first pause, regardless of how long the ended pause was.
    mutating func allowProbe() {
        guard !isClosed else { return }
        (pausedUntil, probedUntil, pauses) = (nil, nil, 1)
    }

    mutating func close() {
        self = CircuitBreaker(terms)
    }
}
