import MartletModel

/// Notices that the clock on the wall was set back: times that were worked out before lie too far ahead then.
struct ClockWatch: Sendable, Equatable {
    /// Threads that read the clock one after the other are heard in another order: less than this says nothing.
    private static let tolerance: Duration = .seconds(5)

    private var latest: Timestamp?

    /// By how much the clock was set back since the last look; nil where it was not.
    mutating func setBack(at now: Timestamp) -> Duration? {
        guard let latest, latest - now > Self.tolerance else {
            latest = max(latest ?? now, now)
            return nil
        }
        self.latest = now
        return latest - now
    }
}
