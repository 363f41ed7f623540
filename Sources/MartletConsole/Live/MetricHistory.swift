import MartletCore
import MartletModel

/// The history of the server's figures: 15 minutes in steps of a second, a day in steps of a minute, and 35 days in
/// steps of an hour.
struct MetricHistory: Sendable {
    enum Range: String, CaseIterable, Sendable {
        case minutes = "15m"
        case day = "24h"
        case month = "35d"
    }

    /// The figures of one hour, to be stored.
    struct Hour: Sendable, Equatable {
        var at: Timestamp
        var figures: [String: Double]
    }

    private var seconds = MetricRing(step: 1, capacity: 900)
    private var minutes = MetricRing(step: 60, capacity: 1440)
    private var hours = MetricRing(step: 3600, capacity: 840)
    private(set) var latest: ConsoleSample?
    /// The figures of the latest second.
    private(set) var second: [String: Double] = [:]
    private var minuteStart: ConsoleSample?
    private var hourStart: ConsoleSample?
    /// Samples of the last five minutes, ten seconds apart, oldest first.
    private(set) var recent: [ConsoleSample] = []

    private static let recentSpan = Duration.seconds(300)
    private static let recentStep = Duration.seconds(10)

    /// Adds a sample.
    /// - Returns: The hour that this sample completes; nil if it completes none.
    mutating func add(_ sample: ConsoleSample) -> Hour? {
        defer { latest = sample }
        guard let latest, sample.at > latest.at else {
            // This is the first sample, or the clock was set back.
            (minuteStart, hourStart, recent) = (sample, sample, [sample])
            return nil
        }
        addSeconds(from: latest, to: sample)
        if let start = minuteStart, minutes.number(of: start.at) != minutes.number(of: sample.at) {
            minutes.put(Self.values(from: start, to: sample), at: minutes.number(of: start.at))
            minuteStart = sample
        }
        if let last = recent.last, sample.at - last.at >= Self.recentStep {
            recent.append(sample)
            recent.removeAll { sample.at - $0.at > Self.recentSpan }
        }
        guard let start = hourStart, hours.number(of: start.at) != hours.number(of: sample.at) else { return nil }
        let number = hours.number(of: start.at)
        let figures = Self.values(from: start, to: sample)
        hours.put(figures, at: number)
        hourStart = sample
        return Hour(at: Timestamp(seconds: number * hours.step), figures: figures)
    }

    /// Sets the figures of all seconds between two samples.
    ///
    /// While no page is open, samples are several seconds apart, and each second between them gets the mean.
    private mutating func addSeconds(from old: ConsoleSample, to new: ConsoleSample) {
        second = Self.values(from: old, to: new)
        let (first, last) = (seconds.number(of: old.at) + 1, seconds.number(of: new.at))
        guard first <= last else { return }
        for number in max(first, last - Int64(seconds.capacity) + 1)...last { seconds.put(second, at: number) }
    }

    /// Adds the figures of an hour that an earlier process has stored.
    mutating func restore(_ hour: Hour) {
        hours.put(hour.figures, at: hours.number(of: hour.at))
    }

    /// Returns the figures for the time between two samples: counts per second, latencies in milliseconds, and the
    /// number and age of unfinished deliveries at the end.
    private static func values(from old: ConsoleSample, to new: ConsoleSample) -> [String: Double] {
        let span = Double((new.at - old.at).wholeMilliseconds) / 1000
        var values: [String: Double] = ["waiting": Double(new.waiting), "oldest": new.oldest]
        guard span > 0 else { return values }
        for (name, counts, before) in [("taken", new.taken, old.taken), ("failed", new.failed, old.failed)] {
            for (platform, count) in counts {
                values["\(name).\(platform)"] = max(0, Double(count - (before[platform] ?? 0)) / span)
            }
        }
        for (name, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
            values[name] = new.latency.quantile(share, since: old.latency).map { $0 * 1000 }
        }
        return values
    }

    // MARK: Documents

    /// Returns the history of a range as JSON.
    ///
    /// Unknown values are null.
    func json(_ range: Range) -> JSON {
        let ring =
            switch range {
            case .minutes: seconds
            case .day: minutes
            case .month: hours
            }
        let count = ring.capacity
        func column(_ name: String) -> JSON {
            .array(ring.values(of: name, count: count).map { $0.isNaN ? .null : .double(Self.rounded($0)) })
        }
        func columns(_ prefix: String) -> JSON {
            .object(
                Dictionary(
                    uniqueKeysWithValues: ring.names(beginningWith: prefix + ".").map {
                        (String($0.dropFirst(prefix.count + 1)), column($0))
                    }))
        }
        let end = ring.last.map { Timestamp(seconds: ($0 + 1) * ring.step) }
        return [
            "range": .string(range.rawValue), "step": .integer(ring.step),
            "end": end.map { .string($0.iso8601) } ?? .null,
            "taken": columns("taken"), "failed": columns("failed"), "p50": column("p50"), "p95": column("p95"),
            "p99": column("p99"), "waiting": column("waiting"), "oldest": column("oldest"),
        ]
    }

    /// The figures of the latest second as JSON, with the current numbers of connections. Unknown values are null.
    var secondJSON: JSON {
        func column(_ name: String) -> JSON { second[name].map { .double(Self.rounded(Float($0))) } ?? .null }
        func columns(_ prefix: String) -> JSON {
            .object(
                Dictionary(
                    uniqueKeysWithValues: second.filter { $0.key.hasPrefix(prefix + ".") }.map {
                        (String($0.key.dropFirst(prefix.count + 1)), .double(Self.rounded(Float($0.value))))
                    }))
        }
        return [
            "at": latest.map { .string($0.at.iso8601) } ?? .null, "taken": columns("taken"),
            "failed": columns("failed"), "p50": column("p50"), "p95": column("p95"), "p99": column("p99"),
            "waiting": latest.map { .integer(Int64($0.waiting)) } ?? .null,
            "oldest": latest.map { .double(Self.rounded(Float($0.oldest))) } ?? .null,
            "connections": .object((latest?.connections ?? [:]).mapValues { .integer(Int64($0)) }),
        ]
    }

    /// Rounds a value to three decimal places, which are enough for a chart.
    private static func rounded(_ value: Float) -> Double { (Double(value) * 1000).rounded() / 1000 }
}

extension Histogram {
    /// Returns a quantile of the durations that were added after an earlier state of this histogram, in seconds.
    ///
    /// The quantile is interpolated within its bucket. If it exceeds the highest bound of the histogram, this bound is
    /// returned.
    /// - Parameter share: The share of the durations that do not exceed the quantile, from 0 to 1.
    /// - Returns: nil if no durations were added.
    func quantile(_ share: Double, since old: Histogram) -> Double? {
        guard old.counts.count == counts.count else { return nil }
        let new = zip(counts, old.counts).map { $0 >= $1 ? $0 - $1 : 0 }
        let total = new.reduce(0, +)
        guard total > 0 else { return nil }
        let wanted = share * Double(total)
        var (sum, lower) = (0.0, 0.0)
        for (index, count) in new.enumerated() {
            guard index < bounds.count else { break }
            let upper = Double(bounds[index].wholeMilliseconds) / 1000
            let next = sum + Double(count)
            if next >= wanted, count > 0 { return lower + (upper - lower) * (wanted - sum) / Double(count) }
            (sum, lower) = (next, upper)
        }
        return lower
    }
}
