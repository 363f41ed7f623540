import MartletModel

/// Stops sending to something that may be failing: a lane, an origin of it, or a device.
///
/// While it is closed, everything may be sent. After enough failures in a row, or on request, it pauses: nothing is
/// sent until a timestamp, and each pause is twice as long as the one before, until the breaker closes. After a pause
/// one probe is sent, and others wait for its result: a failure begins the next pause, an answer closes the breaker.
/// Failures of pushes that were let in before a pause do not lengthen it. If the clock is set back, a pause is over,
/// because the timestamp of its end has no meaning any more.
struct CircuitBreaker: Sendable, Equatable {
    struct Terms: Sendable, Equatable {
        /// The number of failures in a row that begin a pause.
        var failures: Int
        var firstPause: Duration
        var longestPause: Duration

        static let lane = Terms(failures: 1, firstPause: .seconds(1), longestPause: .seconds(60))
        /// Longer pauses: a lane has many origins, and some of those that devices have chosen never work again.
        static let origin = Terms(failures: 1, firstPause: .seconds(5), longestPause: .seconds(900))
        /// Counts broken connections; a failed request counts as three.
        static let device = Terms(failures: 3, firstPause: .seconds(1), longestPause: .seconds(60))
    }

    /// Whether something may be sent now.
    enum Entry: Sendable, Equatable {
        case free
        case probe
        case paused(until: Timestamp)
    }

    private let terms: Terms
    private(set) var pausedUntil: Timestamp?
    private(set) var pauses = 0
    private var failures = 0
    /// Until when other pushes wait for the probe that is under way.
    private var probedUntil: Timestamp?
    private var clock = ClockWatch()

    init(_ terms: Terms) {
        self.terms = terms
    }

    var isClosed: Bool { pauses == 0 }

    /// Asks whether something may be sent now.
    /// - Parameter duration: The longest time of a probe; after that another probe may be sent.
    mutating func enter(at now: Timestamp, probeDuration duration: Duration) -> Entry {
        if isClosed { return .free }
        if clock.setBack(at: now) != nil { (pausedUntil, probedUntil) = (nil, nil) }
        if let until = pausedUntil, until > now { return .paused(until: until) }
        // Most probes are over soon, so those that wait ask again early.
        if let until = probedUntil, until > now { return .paused(until: min(until, now + terms.firstPause)) }
        probedUntil = now + duration
        return .probe
    }

    /// Ends a probe that has shown nothing.
    mutating func endProbe() {
        probedUntil = nil
    }

    /// Records failed pushes, none of which was answered.
    /// - Parameter isProbe: Whether they were let in after a pause.
    mutating func fail(_ count: Int = 1, isProbe: Bool, at now: Timestamp) {
        failures = min(failures + count, terms.failures)
        guard isClosed ? failures >= terms.failures : isProbe else { return }
        _ = pause(isProbe: isProbe, at: now)
    }

    /// Pauses for at least `least`.
    /// - Parameter isProbe: Whether the push that asks for the pause was let in after a pause.
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

    /// Restores a pause that an earlier process has begun.
    mutating func restore(until timestamp: Timestamp) {
        pausedUntil = max(timestamp, pausedUntil ?? timestamp)
        pauses = max(pauses, 1)
    }

    /// Allows a probe at once. If it fails, pauses begin with the shortest again.
    mutating func allowProbe() {
        guard !isClosed else { return }
        (pausedUntil, probedUntil, pauses) = (nil, nil, 1)
    }

    mutating func close() {
        self = CircuitBreaker(terms)
    }
}
