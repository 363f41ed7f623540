/// The pause after a connection to a peer failed: 1 s, doubling to 60 s, with random jitter so that many hubs do not
/// reconnect at the same time.
struct HTTP2Backoff: Equatable {
    private static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    private var next = Self.first
    /// When another connection may be tried; nil if none failed.
    private(set) var until: ContinuousClock.Instant?

    /// Records a failure. Failures of connections made at the same time count once.
    /// - Parameter jitter: A random number from 0 up to 1: the pause is 75 % to 125 % of its nominal length.
    mutating func failed(at now: ContinuousClock.Instant, jitter: Double) {
        guard allows(at: now) else { return }
        until = now + next * (0.75 + jitter / 2)
        next = min(next * 2, Self.longest)
    }

    /// Resets the pause: the peer has answered on a connection.
    mutating func succeeded() {
        self = HTTP2Backoff()
    }

    func allows(at now: ContinuousClock.Instant) -> Bool {
        until.map { now >= $0 } ?? true
    }
}
