/// Bounds the time that a peer may keep a handler waiting for a body, which a slow drip cannot stretch: a due time moves
/// only with every so many bytes. While the handler has bytes to work on, no time runs.
struct InboundProgressDeadline {
    /// How much must come in one stall time.
    private static let leastProgress = 16 * 1024

    private let stallTime: Duration
    private var left: Duration
    private var moved = 0
    /// When the time is up; nil while none runs.
    private(set) var deadline: ContinuousClock.Instant?

    init(stallTime: Duration) {
        self.stallTime = stallTime
        left = stallTime
    }

    /// The handler waits.
    mutating func waits(from now: ContinuousClock.Instant) {
        if deadline == nil { deadline = now + left }
    }

    /// The handler has something to do.
    mutating func rests(from now: ContinuousClock.Instant) {
        guard let deadline else { return }
        left = max(.zero, now.duration(to: deadline))
        self.deadline = nil
    }

    mutating func received(_ count: Int, at now: ContinuousClock.Instant) {
        moved += count
        guard moved >= Self.leastProgress else { return }
        moved = 0
        left = stallTime
        if deadline != nil { deadline = now + stallTime }
    }
}
