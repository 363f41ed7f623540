import MartletModel

/// Whether a lane may send, and how healthy it is. An answer that asks for no pause, or a new credential, opens it.
struct Lane: Sendable {
    var breaker = CircuitBreaker(.lane)
    /// By application (`PushService.application`).
    private(set) var guards: [String: DeletionGuard] = [:]

    /// Senders choose topics, and strangers origins: of more than so many at a time nobody is believed to be gone.
    static let guardLimit = 1024

    var isOpen: Bool { breaker.isClosed }

    // MARK: Who is believed to be gone

    /// Notes what the pushes of a page with one application came to.
    /// - Returns: Who is believed to be gone, and whether a quarantine has begun with it, or ended.
    mutating func note(
        _ health: PageHealth, of application: String, at now: Timestamp
    ) -> (gone: [ChannelFeedback], change: Bool?) {
        if guards[application] == nil, guards.count >= Self.guardLimit {
            guards = guards.filter { $0.value.isQuarantined }
            guard guards.count < Self.guardLimit else { return ([], nil) }
        }
        var known = guards[application] ?? DeletionGuard()
        let before = known.isQuarantined
        let gone = known.note(health, at: now)
        guards[application] = known
        return (gone, known.isQuarantined == before ? nil : known.isQuarantined)
    }

    /// Goes on with a quarantine that an earlier process has begun.
    mutating func restoreQuarantine(of application: String) {
        guards[application] = DeletionGuard(isQuarantined: true)
    }

    /// The credential has changed: what was noted with the old one says nothing of the new.
    mutating func resetGuards() {
        for application in guards.keys { guards[application]?.reset() }
    }

    var quarantines: Int { guards.count { $0.value.isQuarantined } }
}
