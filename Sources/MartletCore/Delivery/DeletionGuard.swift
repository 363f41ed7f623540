import MartletModel

/// Decides whether an answer that a handle is dead may be believed.
///
/// A wrong bundle id, project or environment makes every handle look dead. So guarded deletions happen only while a
/// platform of a hub is healthy: in the sliding window there is a success, and not more than half of many answers are
/// fatal (push services document, section 0.4).
struct DeletionGuard: Sendable {
    private struct Slot {
        var start: Timestamp
        var successes = 0
        var fatal = 0
    }

    private static let slotLength: Duration = .seconds(60)
    private static let slotLimit = 10
    /// Below this many answers a share means nothing.
    static let enoughAnswers = 20

    private var slots: [Slot] = []

    /// Notes what a page came to.
    mutating func note(successes: Int, fatal: Int, at now: Timestamp) {
        // A slot that lies ahead was begun before the clock was set back.
        if slots.last.map({ now - $0.start >= Self.slotLength || $0.start - now >= Self.slotLength }) ?? true {
            slots.append(Slot(start: now))
            if slots.count > Self.slotLimit { slots.removeFirst() }
        }
        slots[slots.count - 1].successes += successes
        slots[slots.count - 1].fatal += fatal
    }

    /// Whether handles that were called dead may be removed.
    func allowsDeletion(at now: Timestamp) -> Bool {
        let recent = slots.filter { now - $0.start < Self.slotLength * Self.slotLimit }
        let successes = recent.reduce(0) { $0 + $1.successes }
        let fatal = recent.reduce(0) { $0 + $1.fatal }
        if successes + fatal <= Self.enoughAnswers { return true }
        return successes > 0 && fatal <= successes
    }
}
