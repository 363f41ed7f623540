import MartletModel

/// When messages of one account may go: a pure decision.
///
/// Messages are spread evenly, but for a second's worth that may go ahead of its time. Many at once wait until nothing
/// is ahead, so that a few pass them. After a minute without any the pace is a tenth of the full one and grows to it
/// within a minute.
struct SendingRateMeter: Sendable {
    /// As few go ahead of their time.
    private static let few = 100
    private static let headStart: Duration = .seconds(-1)
    private static let growth: Duration = .seconds(60)

    /// Messages in a second once the pace has grown. Of each minute two seconds' worth are held back for what goes
    /// ahead of its time.
    private let fullRate: Double
    private var began: Timestamp?
    /// When all that was let through has gone, evenly spread.
    private var end: Timestamp?
    private var clock = ClockWatch()

    init(_ pace: SendingRate) {
        fullRate = Double(max(pace.messagesPerMinute, 1)) / 60 * 58 / 60
    }

    enum Turn: Equatable {
        /// So many may go together.
        case now(Int)
        /// Nothing is taken: this is when to ask again.
        case later(Timestamp)
    }

    /// Takes as many messages as may go together.
    mutating func turn(for wanted: Int, at now: Timestamp) -> Turn {
        if clock.setBack(at: now) != nil { end = nil }
        if end.map({ now - $0 > Self.growth }) ?? true { began = now }
        let end = max(end ?? now, now)
        let start = wanted > Self.few ? end : end + Self.headStart
        guard start <= now else { return .later(start) }
        let rate = rate(at: now)
        let count = min(wanted, max(1, Int(rate)))
        self.end = end + .seconds(1) * (Double(count) / rate)
        return .now(count)
    }

    private func rate(at timestamp: Timestamp) -> Double {
        let age = began.map { timestamp - $0 } ?? .zero
        let share = Double(age.components.seconds) / Double(Self.growth.components.seconds)
        return fullRate * min(1, 0.1 + 0.9 * share)
    }
}
