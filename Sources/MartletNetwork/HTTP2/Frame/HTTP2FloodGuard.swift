/// Detects floods: more frames than any legitimate peer sends, of kinds that cost the server work and the peer almost
/// nothing. Covers rapid reset and floods of SETTINGS, PING, PRIORITY, CONTINUATION, WINDOW_UPDATE and empty DATA.
///
/// The guard is a leaky bucket: each such frame adds its cost to the level, and the level decreases over time.
struct HTTP2FloodGuard {
    private static let capacity = 4_000
    private static let drainPerSecond = 2_000

    private var level = 0
    private var drained: ContinuousClock.Instant

    init(now: ContinuousClock.Instant) {
        drained = now
    }

    /// - Returns: False if the connection must be closed with ENHANCE_YOUR_CALM.
    mutating func allows(_ frame: HTTP2FrameHeader, at now: ContinuousClock.Instant) -> Bool {
        let cost = Self.cost(of: frame)
        return cost == 0 || fill(cost, at: now)
    }

    /// Counts the reset of a stream by the server, because a peer can provoke such resets as cheaply as it can reset
    /// streams itself.
    /// - Returns: False if the connection must be closed with ENHANCE_YOUR_CALM.
    mutating func allowsReset(at now: ContinuousClock.Instant) -> Bool {
        fill(10, at: now)
    }

    /// Reduces the level for a DATA frame that was sent, because the peer may respond to it with updates of two
    /// windows.
    mutating func sentData() {
        level = max(0, level - 2)
    }

    private mutating func fill(_ cost: Int, at now: ContinuousClock.Instant) -> Bool {
        let milliseconds = Int((now - drained) / .milliseconds(1))
        let drain = milliseconds * Self.drainPerSecond / 1_000
        if drain > 0 {
            level = max(0, level - drain)
            drained = now
        }
        level += cost
        return level <= Self.capacity
    }

    private static func cost(of frame: HTTP2FrameHeader) -> Int {
        switch frame.kind {
        // An acknowledgement is cheap, because it answers the server's own SETTINGS. An unexpected acknowledgement
        // closes the connection anyway.
        case HTTP2FrameHeader.Kind.settings: frame.has(HTTP2FrameHeader.Flag.acknowledgement) ? 1 : 20
        case HTTP2FrameHeader.Kind.ping, HTTP2FrameHeader.Kind.reset, HTTP2FrameHeader.Kind.continuation: 10
        case HTTP2FrameHeader.Kind.windowUpdate: 1
        case HTTP2FrameHeader.Kind.data: frame.length == 0 && !frame.has(HTTP2FrameHeader.Flag.endStream) ? 5 : 0
        case HTTP2FrameHeader.Kind.headers: 0
        default: 2
        }
    }
}
