import MartletModel

/// Whether something may be sent to that may be sick: a lane, one origin of it, or one device.
///
/// Closed, everything goes. After enough failures in a row, or where it is asked for, it pauses: nothing goes until a
/// moment, and each pause until it is closed again is twice as long as the one before. Behind a pause one probe goes, and
/// the others wait for what it shows: a failure pauses again, an answer closes. What was let in before a pause shows
/// nothing new: however much of it fails, the next pause is no longer for it. Where the clock is set back a pause is over,
/// because the time of its end has no meaning any more.
struct CircuitBreaker: Sendable, Equatable {
    struct Terms: Sendable, Equatable {
        /// Failures in a row that pause.
        var failures: Int
        var firstPause: Duration
        var longestPause: Duration

        static let lane = Terms(failures: 1, firstPause: .seconds(1), longestPause: .seconds(60))
        /// An origin is one of many, and some of those that strangers have chosen never come back.
        static let origin = Terms(failures: 1, firstPause: .seconds(5), longestPause: .seconds(900))
        /// Of broken connections; a request that fails counts as three.
        static let device = Terms(failures: 3, firstPause: .seconds(1), longestPause: .seconds(60))
    }

    /// Whether something may go now.
    enum Entry: Sendable, Equatable {
        case free
        case probe
        case paused(until: Timestamp)
    }

    private let terms: Terms
    private(set) var pausedUntil: Timestamp?
    private(set) var pauses = 0
    private var failures = 0
    /// Until when others wait for the probe that is under way.
    private var probedUntil: Timestamp?
    private var clock = ClockWatch()

    init(_ terms: Terms) {
        self.terms = terms
    }

    var isClosed: Bool { pauses == 0 }

    /// Asks to be let in.
    /// - Parameter duration: How long a probe takes at most; another one is let in after that.
    mutating func enter(at now: Timestamp, probeDuration duration: Duration) -> Entry {
        if isClosed { return .free }
        if clock.setBack(at: now) != nil { (pausedUntil, probedUntil) = (nil, nil) }
        if let until = pausedUntil, until > now { return .paused(until: until) }
        // Most probes are over soon: who waits looks again.
        if let until = probedUntil, until > now { return .paused(until: min(until, now + terms.firstPause)) }
        probedUntil = now + duration
        return .probe
    }

    /// A probe is over that has shown nothing.
    mutating func endProbe() {
        probedUntil = nil
    }

    /// So many were not answered, and nothing was.
    /// - Parameter isProbe: Whether they were let in after a pause.
    mutating func fail(_ count: Int = 1, isProbe: Bool, at now: Timestamp) {
        failures = min(failures + count, terms.failures)
        guard isClosed ? failures >= terms.failures : isProbe else { return }
        _ = pause(isProbe: isProbe, at: now)
    }

    /// Pauses for at least `least`.
    /// - Parameter isProbe: Whether what asks for it was let in after a pause.
    /// - Returns: Until when.
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

    /// Goes on with a pause that an earlier process has begun.
    mutating func restore(until timestamp: Timestamp) {
        pausedUntil = max(timestamp, pausedUntil ?? timestamp)
        pauses = max(pauses, 1)
    }

    /// Lets a probe in at once. Where it fails, pauses begin from the shortest.
    mutating func allowProbe() {
        guard !isClosed else { return }
        (pausedUntil, probedUntil, pauses) = (nil, nil, 1)
    }

    mutating func close() {
        self = CircuitBreaker(terms)
    }
}
