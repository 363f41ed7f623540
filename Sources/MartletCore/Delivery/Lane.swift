import MartletModel

/// What shares its fate when a push service or a credential fails: one platform of one hub.
struct LaneID: Hashable, Sendable {
    var hub: Hub.ID
    var platform: PlatformID
}

/// Whether a lane may send, and how healthy it is.
///
/// Open, it sends. Paused, it waits until a moment, and each pause until it is open again is twice as long as the one
/// before. After a pause a single delivery goes in as a probe, and the others wait for what it shows. An answer that asks
/// for no pause, or a new credential, opens it.
struct Lane: Sendable {
    private static let firstPause: Duration = .seconds(1)
    private static let longestPause: Duration = .seconds(60)

    private(set) var pausedUntil: Timestamp?
    private(set) var pauses = 0
    /// Until when others wait for the probe that is under way.
    private var probedUntil: Timestamp?
    var deletions = DeletionGuard()

    /// Whether a delivery may go in now.
    enum Entry: Sendable, Equatable {
        case open
        case probe
        case paused(until: Timestamp)
    }

    var isOpen: Bool { pauses == 0 }

    /// Asks for a delivery to be let in.
    /// - Parameter duration: How long a probe takes at most; another one is let in after that.
    mutating func enter(at now: Timestamp, probeDuration duration: Duration) -> Entry {
        if isOpen { return .open }
        if let until = [pausedUntil, probedUntil].compactMap(\.self).max(), until > now {
            return .paused(until: until)
        }
        probedUntil = now + duration
        return .probe
    }

    /// A probe is over that has shown nothing.
    mutating func endProbe() {
        probedUntil = nil
    }

    /// Pauses for at least `least`.
    mutating func pause(atLeast least: Duration = .zero, at now: Timestamp) -> Timestamp {
        let doubled = Self.firstPause * (1 << min(pauses, 10))
        let until = now + max(least, min(doubled, Self.longestPause))
        pauses += 1
        probedUntil = nil
        pausedUntil = max(until, pausedUntil ?? until)
        return pausedUntil ?? until
    }

    mutating func open() {
        pausedUntil = nil
        probedUntil = nil
        pauses = 0
    }
}
