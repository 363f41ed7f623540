/// How long to leave a peer alone after a connection to it failed: 1 s, doubling to 60 s, spread by chance so that many
/// hubs do not come back at the same moment.
struct HTTP2Backoff: Equatable {
    private static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    private var next = Self.first
    /// When another connection may be tried; nil where nothing failed.
    private(set) var until: ContinuousClock.Instant?

    /// Connections that were made at the same time fail as one.
    /// - Parameter jitter: By chance, from 0 up to 1: the pause is from three quarters to five quarters of its length.
    mutating func failed(at now: ContinuousClock.Instant, jitter: Double) {
        guard allows(at: now) else { return }
        until = now + next * (0.75 + jitter / 2)
        next = min(next * 2, Self.longest)
    }

    /// A connection has proved itself.
    mutating func succeeded() {
        self = HTTP2Backoff()
    }

    func allows(at now: ContinuousClock.Instant) -> Bool {
        until.map { now >= $0 } ?? true
    }
}
