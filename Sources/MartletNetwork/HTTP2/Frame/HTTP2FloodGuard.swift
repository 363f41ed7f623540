/// Detects floods: frames that cost the receiver work and the peer almost nothing, in greater numbers than any
/// legitimate peer sends.
///
/// Covers rapid reset and floods of SETTINGS, PING, PRIORITY, CONTINUATION, WINDOW_UPDATE, unknown frames, empty DATA,
/// and, in a client, frames for closed streams.
///
/// The guard is a leaky bucket: each frame of these kinds adds its cost to the level, and the level decreases over
/// time.
struct HTTP2FloodGuard {
    private static let capacity = 4_000
    private static let drainPerSecond = 2_000
    /// The amount by which a client lowers the level for each request that it sends. It is the cost of the frames that
    /// an honest server may send for one request.
    ///
    /// For each request that the client cancels, it lowers the level by `savedPerReset`. The level never falls below
    /// `-mostSaved`.
    private static let allowancePerRequest = 4
    private static let savedPerReset = 80
    private static let mostSaved = 65_536
    /// The maximum length of a padded DATA frame that counts as empty, because it may contain only padding.
    private static let paddingLimit = 256

    private typealias Kind = HTTP2FrameHeader.Kind
    private typealias Flag = HTTP2FrameHeader.Flag

    /// The level of the bucket; negative while a part of the allowance is unused.
    private var level = 0
    private var drained: ContinuousClock.Instant
    /// The number of frames so far that raised the level.
    private(set) var count = 0

    init(now: ContinuousClock.Instant) {
        drained = now
    }

    /// Counts a frame that a client sent.
    /// - Returns: False if the connection must be closed with ENHANCE_YOUR_CALM.
    mutating func allows(_ frame: HTTP2FrameHeader, at now: ContinuousClock.Instant) -> Bool {
        let cost = Self.cost(of: frame)
        return cost == 0 || fill(cost, at: now)
    }

    /// Counts a frame that a server sent.
    /// - Parameter isOver: Whether the frame belongs to a closed stream.
    /// - Returns: False if the connection must be closed with ENHANCE_YOUR_CALM.
    mutating func allows(
        _ frame: HTTP2FrameHeader, ofStreamThatIsOver isOver: Bool, at now: ContinuousClock.Instant
    )
        -> Bool
    {
        let cost =
            switch frame.kind {
            case Kind.headers, Kind.data, Kind.reset: isOver ? Self.costOfDiscarded(frame) : Self.costOfAnswer(frame)
            default: Self.cost(of: frame)
            }
        return cost == 0 || fill(cost, at: now)
    }

    /// Counts a stream that the server resets. A peer can provoke such resets as cheaply as it can reset streams
    /// itself.
    /// - Returns: False if the connection must be closed with ENHANCE_YOUR_CALM.
    mutating func allowsReset(at now: ContinuousClock.Instant) -> Bool {
        fill(10, at: now)
    }

    /// Lowers the level because a server has sent a DATA frame. The peer may answer such a frame with updates of two
    /// windows.
    mutating func sentData() {
        level = max(0, level - 2)
    }

    /// Lowers the level because a client has sent requests. For each request, an honest server may send two
    /// WINDOW_UPDATE frames and one RST_STREAM frame.
    mutating func sentRequests(_ count: Int) {
        level = max(-Self.mostSaved, level - count * Self.allowancePerRequest)
    }

    /// Lowers the level because a client has sent a DATA frame that is not the first of its request.
    mutating func sentMoreData() {
        level = max(-Self.mostSaved, level - 2)
    }

    /// Lowers the level for a request that a client canceled, because the answer may already be on the way.
    mutating func canceledRequest() {
        level = max(-Self.mostSaved, level - Self.savedPerReset)
    }

    private mutating func fill(_ cost: Int, at now: ContinuousClock.Instant) -> Bool {
        count += 1
        if now != drained { drain(at: now) }
        level += cost
        return level <= Self.capacity
    }

    private mutating func drain(at now: ContinuousClock.Instant) {
        let milliseconds = Int((now - drained) / .milliseconds(1))
        let drain = milliseconds * Self.drainPerSecond / 1_000
        guard drain > 0 else { return }
        level = max(min(level, 0), level - drain)
        drained = now
    }

    private static func cost(of frame: HTTP2FrameHeader) -> Int {
        switch frame.kind {
        // An acknowledgement costs little, because it answers SETTINGS that this side has sent. In a server, an
        // unexpected acknowledgement closes the connection anyway.
        case Kind.settings: frame.has(Flag.acknowledgement) ? 1 : 20
        case Kind.ping, Kind.reset, Kind.continuation, Kind.goAway: 10
        case Kind.windowUpdate: 1
        case Kind.data: isEmpty(frame) ? 5 : 0
        case Kind.headers: 0
        default: costOfDiscarded(frame)
        }
    }

    /// Returns the cost of a frame that begins, continues or ends an awaited answer: nothing, unless the frame is
    /// empty.
    private static func costOfAnswer(_ frame: HTTP2FrameHeader) -> Int {
        frame.kind == Kind.data && isEmpty(frame) ? 5 : 0
    }

    private static func isEmpty(_ frame: HTTP2FrameHeader) -> Bool {
        guard !frame.has(Flag.endStream) else { return false }
        return frame.length == 0 || (frame.has(Flag.padded) && frame.length <= paddingLimit)
    }

    /// Returns the cost of a frame that is discarded.
    ///
    /// The cost grows with the frame's length, because the bytes have to be decrypted before they are discarded.
    private static func costOfDiscarded(_ frame: HTTP2FrameHeader) -> Int { 2 + frame.length / 1_024 }
}
