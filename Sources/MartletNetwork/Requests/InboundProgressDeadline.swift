/// Limits how long a peer may keep a handler waiting for a body. Sending a few bytes at a time does not extend the
/// limit, because the deadline is renewed only after every `leastProgress` bytes. The countdown is paused while the
/// handler has bytes to process.
struct InboundProgressDeadline {
    /// The number of bytes that must arrive within one stall time.
    private static let leastProgress = 16 * 1024

    private let stallTime: Duration
    private var left: Duration
    private var moved = 0
    /// The deadline; nil while the countdown is paused.
    private(set) var deadline: ContinuousClock.Instant?

    init(stallTime: Duration) {
        self.stallTime = stallTime
        left = stallTime
    }

    /// Resumes the countdown: the handler waits for bytes.
    mutating func resume(at now: ContinuousClock.Instant) {
        if deadline == nil { deadline = now + left }
    }

    /// Pauses the countdown: the handler has bytes to process.
    mutating func pause(at now: ContinuousClock.Instant) {
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
