import MartletModel

/// The latest values of several series, one value of each series per time step.
///
/// New values overwrite the oldest ones.
struct MetricRing: Sendable {
    /// The length of a time step, in seconds.
    let step: Int64
    /// The number of steps that are kept.
    let capacity: Int
    /// The number of the last step with values, where step 0 begins in 1970; nil if there is no value yet.
    private(set) var last: Int64?
    /// The values, keyed by the name of the series.
    ///
    /// The value of step `n` is at index `n % capacity`; NaN means unknown.
    private var series: [String: [Float]] = [:]

    /// The maximum number of series.
    ///
    /// Values of further series are ignored, because the number of possible names is unlimited.
    static let seriesLimit = 64

    init(step: Int64, capacity: Int) {
        self.step = step
        self.capacity = capacity
    }

    /// Returns the number of the step in which a time lies.
    func number(of timestamp: Timestamp) -> Int64 { timestamp.seconds / step }

    /// Sets the values of a step.
    ///
    /// A step before the last one is ignored, because the clock was set back.
    mutating func put(_ values: [String: Double], at number: Int64) {
        guard number >= last ?? .min else { return }
        clear(upTo: number)
        let slot = index(number)
        for (name, value) in values {
            if series[name] == nil {
                guard series.count < Self.seriesLimit else { continue }
                series[name] = Array(repeating: .nan, count: capacity)
            }
            series[name]?[slot] = Float(value)
        }
    }

    /// Marks all steps after the last one as unknown, up to and including the given step.
    private mutating func clear(upTo number: Int64) {
        guard let last else {
            self.last = number
            return
        }
        for skipped in max(last + 1, number - Int64(capacity) + 1)..<max(last + 1, number + 1) {
            let slot = index(skipped)
            for name in Array(series.keys) { series[name]?[slot] = .nan }
        }
        self.last = number
    }

    private func index(_ number: Int64) -> Int { Int(number % Int64(capacity)) }

    /// Returns the sorted names of the series that begin with a prefix.
    func names(beginningWith prefix: String) -> [String] {
        series.keys.filter { $0.hasPrefix(prefix) }.sorted()
    }

    /// Returns the last `count` values of a series, oldest first; NaN for unknown values.
    func values(of name: String, count: Int) -> [Float] {
        guard let last, let values = series[name] else { return Array(repeating: .nan, count: count) }
        return (0..<count).map { values[index(last - Int64(count - 1 - $0))] }
    }
}
