/// Detects a dead peer: after some silence a PING is sent; if nothing arrives after that, the peer is gone.
struct HTTP2Liveness: Equatable {
    enum Action: Equatable {
        case none
        case ping
        /// The peer is gone.
        case giveUp
    }

    private enum State: Equatable {
        /// Input arrived at the instant. After a longer silence a PING is sent.
        case heard(ContinuousClock.Instant)
        /// A PING was sent at the instant. Any input shows that the peer is alive.
        case asked(ContinuousClock.Instant)
    }

    /// The silence after which a PING is sent while requests wait for answers.
    static let silenceWhenBusy = Duration.seconds(10)
    /// The silence after which a PING is sent while no request waits (the push services advise about an hour).
    static let silenceWhenIdle = Duration.seconds(3600)
    /// How long a peer may take to answer a PING.
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
