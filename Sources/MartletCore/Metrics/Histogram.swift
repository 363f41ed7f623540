/// Counts durations in buckets.
public struct Histogram: Sendable, Equatable {
    /// The upper bound of each bucket except the last, which has none; ascending.
    public let bounds: [Duration]
    /// The number of durations in each bucket: one element more than `bounds`.
    public private(set) var counts: [UInt64]
    /// The sum of all durations.
    public private(set) var sum = Duration.zero

    public init(bounds: [Duration]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// The number of durations.
    public var count: UInt64 { counts.reduce(0, +) }

    /// Adds a duration. A negative duration, which results from a clock that was set back, counts as zero.
    public mutating func add(_ duration: Duration) {
        let duration = max(.zero, duration)
        counts[bounds.firstIndex { duration <= $0 } ?? bounds.count] += 1
        sum += duration
    }
}
