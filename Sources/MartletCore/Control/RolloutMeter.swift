import MartletModel

/// How many pushes of a roll-out may go: a pure decision.
///
/// What may go grows with time, up to a second's worth. A page waits until a quarter of a second's worth may go, so that
/// a slow roll-out is not read in pages of one. The first meter of a roll-out begins with as much. One that follows it,
/// after a restart or the end of a platform, begins with what has grown since the last page was sent.
struct RolloutMeter: Sendable {
    enum Turn: Equatable {
        /// So many may go.
        case now(Int)
        case later(Timestamp)
    }

    /// Pushes a second.
    let rate: Double
    private var allowance: Double
    private var asOf: Timestamp

    /// - Parameter lastSentAt: When the last page of the roll-out began; nil where nothing has been sent yet.
    init(rate: Double, lastSentAt: Timestamp? = nil, at now: Timestamp) {
        self.rate = rate
        allowance = lastSentAt == nil ? max(1, rate / 4) : 0
        asOf = min(lastSentAt ?? now, now)
        grow(at: now)
    }

    /// Takes as many as may go.
    /// - Parameter wanted: The most that is of use, one at least.
    mutating func turn(for wanted: Int, at now: Timestamp) -> Turn {
        grow(at: now)
        let least = min(Double(wanted), max(1, rate / 4))
        let missing = least - allowance
        // What a moment's milliseconds cannot tell apart is there.
        guard missing * 1000 <= rate * 0.001 else {
            let wait = (missing / rate * 1000).rounded(.up)
            return .later(now + .milliseconds(Int64(min(max(1, wait), 86_400_000))))
        }
        let count = max(1, min(wanted, Int(allowance)))
        allowance -= Double(count)
        return .now(count)
    }

    /// Takes back what was not used.
    mutating func giveBack(_ count: Int) {
        allowance = min(allowance + Double(count), max(1, rate))
    }

    private mutating func grow(at now: Timestamp) {
        let passed = now > asOf ? (now - asOf) / .seconds(1) : 0
        asOf = now
        allowance = min(allowance + passed * rate, max(1, rate))
    }
}
