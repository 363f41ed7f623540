/// How often a duration fell into which bucket.
public struct Histogram: Sendable, Equatable {
    /// The upper bound of each bucket but the last, which has none; in ascending order.
    public let bounds: [Duration]
    /// How often, by bucket: one more than there are bounds.
    public private(set) var counts: [UInt64]
    /// All durations together.
    public private(set) var sum = Duration.zero

    public init(bounds: [Duration]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// How many durations there were.
    public var count: UInt64 { counts.reduce(0, +) }

    /// Adds a duration; a negative one, which a clock that was set back makes, counts as none.
    public mutating func add(_ duration: Duration) {
        let duration = max(.zero, duration)
        counts[bounds.firstIndex { duration <= $0 } ?? bounds.count] += 1
        sum += duration
    }
}
