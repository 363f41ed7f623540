import MartletModel

/// Decides how many pushes of a roll-out may be sent: a token bucket without I/O.
///
/// The allowance is the number of pushes that may be sent now. It grows with time, up to the number of pushes that the
/// rate allows in one second. A page is sent only once the allowance covers a quarter of a second, so that a slow
/// roll-out does not read pages of one member. The first meter of a roll-out starts with an allowance for a quarter of
/// a second. A later meter, after a restart or the end of a delivery, starts with the allowance that has accumulated
/// since the last page was sent.
struct RolloutMeter: Sendable {
    enum Turn: Equatable {
        /// The given number of pushes may be sent now.
        case now(Int)
        case later(Timestamp)
    }

    /// The rate in pushes per second.
    let rate: Double
    private var allowance: Double
    private var asOf: Timestamp

    /// Creates the meter of a roll-out.
    /// - Parameter lastSentAt: When the last page of the roll-out began; nil if nothing has been sent yet.
    init(rate: Double, lastSentAt: Timestamp? = nil, at now: Timestamp) {
        self.rate = rate
        allowance = lastSentAt == nil ? max(1, rate / 4) : 0
        asOf = min(lastSentAt ?? now, now)
        grow(at: now)
    }

    /// Takes as many pushes from the allowance as may be sent now, or returns when to ask again.
    /// - Parameter wanted: The maximum number of pushes that the caller can use, at least one.
    mutating func turn(for wanted: Int, at now: Timestamp) -> Turn {
        grow(at: now)
        let least = min(Double(wanted), max(1, rate / 4))
        let missing = least - allowance
        // If the missing allowance is no more than the rate allows in one microsecond, the pushes are sent. Timestamps
        // count milliseconds, so such a small amount is only a rounding error.
        guard missing * 1000 <= rate * 0.001 else {
            let wait = (missing / rate * 1000).rounded(.up)
            return .later(now + .milliseconds(Int64(min(max(1, wait), 86_400_000))))
        }
        let count = max(1, min(wanted, Int(allowance)))
        allowance -= Double(count)
        return .now(count)
    }

    /// Gives back the allowance for pushes that were not sent.
    mutating func giveBack(_ count: Int) {
        allowance = min(allowance + Double(count), max(1, rate))
    }

    private mutating func grow(at now: Timestamp) {
        let passed = now > asOf ? (now - asOf) / .seconds(1) : 0
        asOf = now
        allowance = min(allowance + passed * rate, max(1, rate))
    }
}
