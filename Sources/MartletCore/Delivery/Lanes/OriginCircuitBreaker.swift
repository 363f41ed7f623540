import MartletModel

/// Decides which pushes may be sent to an origin that devices have chosen. Does no I/O.
///
/// After a pause, one push tests the origin. A push to a device that is not known to fail is the probe. Pushes to failing
/// devices have a circuit breaker of their own, because the failure of such a push shows little about the origin: it
/// neither takes the place of the probe nor, as long as it only gets no answer, lengthens the pauses of the origin. A
/// push to a failing device that is sent after a pause is a trial. An answer to a probe or a trial ends the pause for
/// all pushes. A trial that shows something about the origin counts like a probe: if it cannot connect, or if its answer
/// asks for a wait, the next pause of the origin begins, and it is longer.
struct OriginCircuitBreaker: Sendable, Equatable {
    /// How a push is sent.
    enum Role: Sendable, Equatable {
        case ordinary
        /// The push tests the origin after a pause.
        case probe
        /// The push tests a failing device and the origin after a pause.
        case trial
    }

    enum Entry: Sendable, Equatable {
        case free
        /// One push may be sent, as a probe or as a trial.
        case probe
        case paused(until: Timestamp)
        /// A probe or a trial is in progress. All other pushes wait for its end, at most until the given time.
        case probed(until: Timestamp)
    }

    private var pushes = CircuitBreaker(.origin)
    private var failingDevices = CircuitBreaker(.failingDevices)

    var isClosed: Bool { pushes.isClosed }
    var pausedUntil: Timestamp? { pushes.pausedUntil }

    /// Asks whether pushes may be sent now.
    /// - Parameters:
    ///   - areFailing: Whether all devices of the pushes are known to fail.
    ///   - duration: The maximum duration of a probe or a trial, after which another one may be sent.
    mutating func enter(areFailing: Bool, at now: Timestamp, probeDuration duration: Duration) -> Entry {
        if isClosed { return .free }
        if areFailing, failingDevices.isClosed { failingDevices.restore(until: now) }
        let wait = areFailing ? failingDevices.wait(at: now) : nil
        if let first = pushes.wait(at: now) { return Entry(first, wait) }
        guard areFailing else {
            pushes.beginProbe(at: now, duration: duration)
            return .probe
        }
        if let wait { return Entry(wait) }
        failingDevices.beginProbe(at: now, duration: duration)
        return .probe
    }

    /// Returns when the probe or the trial in progress ends at the latest; nil if none is in progress, or if a pause
    /// has begun meanwhile.
    mutating func probeEnd(at now: Timestamp) -> Timestamp? {
        let waits = [pushes.wait(at: now), failingDevices.wait(at: now)]
        if case .pause = waits[0] { return nil }
        return waits.compactMap { if case .probe(let until) = $0 { until } else { nil } }.min()
    }

    /// Ends a probe or a trial, so that another push may be sent in its place. If a trial was not answered, the next
    /// pause of the failing devices begins.
    mutating func end(_ role: Role, at now: Timestamp) {
        switch role {
        case .ordinary: break
        case .probe: pushes.endProbe()
        case .trial where isClosed: break
        case .trial: _ = failingDevices.pause(isProbe: true, at: now)
        }
    }

    /// Begins a pause or extends the current pause. After a probe or a trial, the next pause begins, which is longer.
    mutating func pause(atLeast least: Duration = .zero, after role: Role, at now: Timestamp) {
        _ = pushes.pause(atLeast: least, isProbe: role != .ordinary, at: now)
    }

    mutating func restore(until timestamp: Timestamp) {
        pushes.restore(until: timestamp)
    }

    mutating func close() {
        self = OriginCircuitBreaker()
    }
}

extension OriginCircuitBreaker.Entry {
    /// - Parameter other: A wait that must be over too, so that the pushes are not postponed twice.
    fileprivate init(_ wait: CircuitBreaker.Wait, _ other: CircuitBreaker.Wait? = nil) {
        self =
            switch (wait, other) {
            case (.pause(let until), .pause(let later)): .paused(until: max(until, later))
            case (.pause(let until), _): .paused(until: until)
            case (.probe(let until), _): .probed(until: until)
            }
    }
}
