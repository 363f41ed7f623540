/// Detects a dead peer: a PING is sent after a period of silence. If nothing is received after the PING either, the
/// peer is considered dead.
struct HTTP2Liveness: Equatable {
    enum Action: Equatable {
        case none
        case ping
        /// The peer is dead; the connection must be closed.
        case giveUp
    }

    private enum State: Equatable {
        /// Input was last received at this instant. If the silence lasts too long, a PING is sent.
        case heard(ContinuousClock.Instant)
        /// A PING was sent at this instant. Any input shows that the peer is alive.
        case asked(ContinuousClock.Instant)
    }

    /// The duration of silence after which a PING is sent if requests are waiting for answers.
    static let silenceWhenBusy = Duration.seconds(10)
    /// The duration of silence after which a PING is sent if no request is waiting. Apple suggests an hour for APNs.
    static let silenceWhenIdle = Duration.seconds(3600)
    /// The maximum time in which a peer must answer a PING.
    static let answerTime = Duration.seconds(10)

    private var state: State

    init(now: ContinuousClock.Instant) {
        state = .heard(now)
    }

    func deadline(isBusy: Bool) -> ContinuousClock.Instant {
        switch state {
        case .heard(let last): last + (isBusy ? Self.silenceWhenBusy : Self.silenceWhenIdle)
        case .asked(let when): when + Self.answerTime
        }
    }

    mutating func heard(at now: ContinuousClock.Instant) {
        state = .heard(now)
    }

    /// Restarts the silence timer when a request is sent on an idle connection.
    mutating func becameBusy(at now: ContinuousClock.Instant) {
        if case .heard = state { state = .heard(now) }
    }

    mutating func expire(at now: ContinuousClock.Instant, isBusy: Bool) -> Action {
        guard now >= deadline(isBusy: isBusy) else { return .none }
        switch state {
        case .heard:
            state = .asked(now)
            return .ping
        case .asked:
            return .giveUp
        }
    }
}
