/// The progress of a long operation, as lines for a person: on a terminal a single line that is redrawn, otherwise a
/// new line every 10 seconds.
struct Progress: Equatable {
    enum Unit: Equatable {
        case items, bytes
        /// A percentage, for an operation that does not know the number of items.
        case percent
    }

    private static let paceOnTerminal = Duration.milliseconds(200)
    private static let pace = Duration.seconds(10)
    /// No rate is shown until the operation has run for this time, because the rate would be too random.
    private static let rateAfter = Duration.seconds(1)

    let unit: Unit
    let isTerminal: Bool
    private var lastLine = Duration.zero

    init(_ unit: Unit, isTerminal: Bool) {
        self.unit = unit
        self.isTerminal = isTerminal
    }

    /// Returns the next line to show.
    /// - Parameters:
    ///   - done: How much is done so far, in `unit`.
    ///   - total: How much there is in total, in `unit`; nil if it is unknown.
    ///   - notes: Additional texts to show.
    ///   - elapsed: The time since the operation began.
    /// - Returns: nil if it is too early to show the next line.
    mutating func line(_ done: Int64, of total: Int64?, notes: [String] = [], after elapsed: Duration) -> String? {
        guard elapsed - lastLine >= (isTerminal ? Self.paceOnTerminal : Self.pace) else { return nil }
        lastLine = elapsed
        var parts = [unit == .percent ? text(done) : total.map { "\(text(done)) of \(text($0))" } ?? text(done)]
        let rate = Double(done) / (elapsed / .seconds(1))
        if elapsed >= Self.rateAfter, rate >= 1 {
            if unit != .percent { parts.append("\(text(Int64(rate)))/s") }
            if let total, total > done { parts.append("\(Self.time(Double(total - done) / rate)) left") }
        }
        return (parts + notes).joined(separator: ", ")
    }

    private func text(_ count: Int64) -> String {
        switch unit {
        case .items: count.grouped
        case .percent: "\(count) %"
        case .bytes where count < 1_000_000: "\((count / 1000).grouped) kB"
        case .bytes: "\((count / 1_000_000).grouped) MB"
        }
    }

    private static func time(_ seconds: Double) -> String {
        switch seconds {
        case ..<99.5: "\(Int64(max(1, seconds.rounded()))) s"
        case ..<5970: "\(Int64((seconds / 60).rounded())) min"
        default: "\(Int64(min(seconds / 3600, 1e6).rounded()).grouped) h"
        }
    }
}
