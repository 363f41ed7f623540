/// When a pool opens connections, and when it stops trying.
struct PoolPolicy {
    enum Decision: Hashable {
        case none
        case open(Int)
        /// Not before this time.
        case later(ContinuousClock.Instant)
    }

    enum Verdict: Hashable {
        case goOn
        /// Nothing that waits can be sent.
        case failWaiting
    }

    /// How often in a row connections may end without having been of use before what waits is given up.
    private static let patience = 3
    private static let firstPause: Duration = .milliseconds(100)
    private static let longestPause: Duration = .seconds(5)

    private let limit: Int
    /// nil until a connection has told.
    private var isHTTP2: Bool?
    private var failures = 0
    private var pausedUntil: ContinuousClock.Instant?

    init(limit: Int) {
        self.limit = limit
    }

    /// - Parameters:
    ///   - waiting: Requests that no open connection takes.
    ///   - open: Connections that take requests, now or later.
    ///   - connecting: Connections that are being made.
    ///   - total: Connections of every kind, those included that only finish what runs on them.
    func connect(waiting: Int, open: Int, connecting: Int, total: Int, at now: ContinuousClock.Instant) -> Decision {
        let room = limit - open - connecting
        guard waiting > 0, room > 0, total < 2 * limit else { return .none }
        if let pausedUntil, pausedUntil > now { return .later(pausedUntil) }
        switch isHTTP2 {
        // The first connection tells what is spoken; one of HTTP/2 may be enough for everything.
        case nil, true?: return connecting == 0 ? .open(1) : .none
        case false?:
            let wanted = min(room, waiting - connecting)
            return wanted > 0 ? .open(wanted) : .none
        }
    }

    mutating func opened(isHTTP2: Bool) {
        self.isHTTP2 = isHTTP2
    }

    /// - Parameters:
    ///   - wasOpen: Whether a connection was made at all.
    ///   - wasUseful: Whether requests were answered since the last one closed.
    ///   - hasOthers: Whether other connections are open or being made.
    mutating func closed(
        wasOpen: Bool, wasUseful: Bool, hasOthers: Bool, at now: ContinuousClock.Instant
    ) -> Verdict {
        failures = wasUseful ? 0 : failures + 1
        pausedUntil = nil
        guard failures > 0, !wasOpen || failures > 1 else { return .goOn }
        let pause = Self.firstPause * (1 << min(failures, 8))
        pausedUntil = now + min(pause, Self.longestPause)
        if hasOthers { return .goOn }
        return !wasOpen || failures >= Self.patience ? .failWaiting : .goOn
    }
}
