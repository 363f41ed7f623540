import MartletModel

/// What shares its fate when a push service or a credential fails: one platform of one hub.
struct LaneID: Hashable, Sendable {
    var hub: Hub.ID
    var platform: PlatformID
}

/// Whether a lane may send, and how healthy it is. An answer that asks for no pause, or a new credential, opens it.
struct Lane: Sendable {
    var breaker = CircuitBreaker(.lane)
    var deletions = DeletionGuard()

    var isOpen: Bool { breaker.isClosed }
}
