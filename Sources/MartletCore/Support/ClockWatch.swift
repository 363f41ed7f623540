import MartletModel

/// Detects that the wall clock was set back: earlier computed times then lie too far ahead.
struct ClockWatch: Sendable, Equatable {
    /// Threads may report their clock readings out of order, so smaller differences do not count.
    private static let tolerance: Duration = .seconds(5)

    private var latest: Timestamp?

    /// How far the clock was set back since the last call; nil if it was not.
    mutating func setBack(at now: Timestamp) -> Duration? {
        guard let latest, latest - now > Self.tolerance else {
            latest = max(latest ?? now, now)
            return nil
        }
        self.latest = now
        return latest - now
    }
}
