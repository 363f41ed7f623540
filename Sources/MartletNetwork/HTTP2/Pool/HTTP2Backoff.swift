/// The pause after a failed connection to a peer: 1 s at first, doubling up to 60 s, with random jitter so that many
/// clients do not reconnect at the same time.
struct HTTP2Backoff: Equatable {
    private static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    private var next = Self.first
    /// The time from which a connection may be tried again; nil if no connection has failed since the last success.
    private(set) var until: ContinuousClock.Instant?

    /// Records a failure. Simultaneous failures of several connections are counted once.
    /// - Parameter jitter: A random number from 0 up to 1, which sets the pause to between 75 % and 125 % of its
    ///   nominal length.
    mutating func failed(at now: ContinuousClock.Instant, jitter: Double) {
        guard allows(at: now) else { return }
        until = now + next * (0.75 + jitter / 2)
        next = min(next * 2, Self.longest)
    }

    /// Ends the pause, and makes the next pause short again. Called when the peer has answered on a connection.
    mutating func succeeded() {
        self = HTTP2Backoff()
    }

    func allows(at now: ContinuousClock.Instant) -> Bool {
        until.map { now >= $0 } ?? true
    }
}
