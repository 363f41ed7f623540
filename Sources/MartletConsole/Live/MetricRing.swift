import MartletModel

/// The latest values of several series at equal steps of time. Older values are overwritten.
struct MetricRing: Sendable {
    /// The step in seconds.
    let step: Int64
    /// The number of steps that are kept.
    let capacity: Int
    /// The number of the last step, counted from 1970; nil if there is no value yet.
    private(set) var last: Int64?
    /// The values by series, each with the value of a step at `step % capacity`; NaN for unknown.
    private var series: [String: [Float]] = [:]

    /// The maximum number of series. Further ones are not kept, because the number of names is not limited.
    static let seriesLimit = 64

    init(step: Int64, capacity: Int) {
        self.step = step
        self.capacity = capacity
    }

    /// The number of the step that a time is in.
    func number(of timestamp: Timestamp) -> Int64 { timestamp.seconds / step }

    /// Sets the values of a step. A step before the last is ignored: the clock was set back.
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

    /// Makes the steps after the last, up to and including a number, unknown.
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

    /// The names of the series that begin with a prefix.
    func names(beginningWith prefix: String) -> [String] {
        series.keys.filter { $0.hasPrefix(prefix) }.sorted()
    }

    /// The values of a series, oldest first: `capacity` of them, or fewer if the ring is younger.
    func values(of name: String, count: Int) -> [Float] {
        guard let last, let values = series[name] else { return Array(repeating: .nan, count: count) }
        return (0..<count).map { values[index(last - Int64(count - 1 - $0))] }
    }
}
