import MartletModel

/// Detects that the wall clock was set back. Times that were computed before the change are then too far in the future.
struct ClockWatch: Sendable, Equatable {
    /// The largest step back that is ignored, because threads may report their clock readings out of order.
    private static let tolerance: Duration = .seconds(5)

    private var latest: Timestamp?

    /// Returns how far the clock was set back since its latest reading; nil if by no more than `tolerance`.
    mutating func setBack(at now: Timestamp) -> Duration? {
        guard let latest, latest - now > Self.tolerance else {
            latest = max(latest ?? now, now)
            return nil
        }
        self.latest = now
        return latest - now
    }
}
