import MartletModel

/// Decides when messages of one account at a push service may be sent, without I/O.
///
/// Messages are spread evenly over time. A small number of messages may be sent up to a second early. A large number
/// must wait until all messages that were sent early are due. So small numbers overtake large ones. After a minute
/// without messages, the rate starts at a tenth of the full rate, and grows to the full rate within a minute.
struct SendingRateMeter: Sendable {
    /// The maximum number of messages that one call of `turn` may admit early.
    private static let few = 100
    private static let headStart: Duration = .seconds(-1)
    private static let growth: Duration = .seconds(60)

    /// The full rate in messages per second. It is 58/60 of the allowed rate, so that messages that are sent early do
    /// not exceed the allowed number per minute.
    private let fullRate: Double
    private var began: Timestamp?
    /// The time at which all admitted messages would have been sent if none of them had been sent early.
    private var end: Timestamp?
    private var clock = ClockWatch()

    init(_ pace: SendingRate) {
        fullRate = Double(max(pace.messagesPerMinute, 1)) / 60 * 58 / 60
    }

    enum Turn: Equatable {
        /// The given number of messages may be sent together now.
        case now(Int)
        /// Nothing may be sent now; ask again at this time.
        case later(Timestamp)
    }

    /// Admits as many messages as may be sent together.
    /// - Parameter wanted: The number of messages to send.
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
