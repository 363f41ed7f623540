/// Counts durations in buckets.
public struct Histogram: Sendable, Equatable {
    /// The upper bounds of the buckets, in ascending order. The last bucket has no upper bound.
    public let bounds: [Duration]
    /// The number of durations in each bucket. It has one element more than `bounds`.
    public private(set) var counts: [UInt64]
    /// The sum of all durations.
    public private(set) var sum = Duration.zero

    public init(bounds: [Duration]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// The number of durations.
    public var count: UInt64 { counts.reduce(0, +) }

    /// Adds a duration. A negative duration counts as zero; it occurs if the clock was set back.
    public mutating func add(_ duration: Duration) {
        let duration = max(.zero, duration)
        counts[bounds.firstIndex { duration <= $0 } ?? bounds.count] += 1
        sum += duration
    }

    /// Adds the durations of another histogram. Does nothing if the bounds differ.
    public mutating func add(_ other: Histogram) {
        guard other.bounds == bounds else { return }
        for index in counts.indices { counts[index] += other.counts[index] }
        sum += other.sum
    }
}
