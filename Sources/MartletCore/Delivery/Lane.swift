import MartletModel

/// What shares its fate when a push service or a credential fails: one platform of one hub.
struct LaneID: Hashable, Sendable {
    var hub: Hub.ID
    var platform: PlatformID
}

/// Whether a lane may send, and how healthy it is.
///
/// Open, it sends. Paused, it waits until a moment; each pause that follows another without a success between them is
/// twice as long. A success, or a new credential, opens it.
struct Lane: Sendable {
    private static let firstPause: Duration = .seconds(1)
    private static let longestPause: Duration = .seconds(60)

    private(set) var pausedUntil: Timestamp?
    private(set) var pauses = 0
    var deletions = DeletionGuard()

    func isPaused(at now: Timestamp) -> Timestamp? {
        pausedUntil.flatMap { $0 > now ? $0 : nil }
    }

    /// Pauses for at least `least`.
    mutating func pause(atLeast least: Duration = .zero, at now: Timestamp) -> Timestamp {
        let doubled = Self.firstPause * (1 << min(pauses, 10))
        let until = now + max(least, min(doubled, Self.longestPause))
        pauses += 1
        pausedUntil = max(until, pausedUntil ?? until)
        return pausedUntil ?? until
    }

    mutating func open() {
        pausedUntil = nil
        pauses = 0
    }
}
