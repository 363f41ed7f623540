public import MartletModel

/// What shares its fate when a push service or a credential fails: one platform of one hub.
public struct LaneID: Hashable, Sendable {
    public var hub: Hub.ID
    public var platform: PlatformID

    public init(hub: Hub.ID, platform: PlatformID) {
        self.hub = hub
        self.platform = platform
    }
}

/// A wait that outlasts the process: a restart must not hurry what a service asked to be left alone for.
public struct LanePause: Hashable, Sendable {
    /// Scheme, host and port of what is left alone; nil: all of the lane.
    public var origin: String?
    public var until: Timestamp
    /// What asked for it.
    public var outcome: OutcomeName
    public var reason: String

    public init(origin: String? = nil, until: Timestamp, outcome: OutcomeName, reason: String) {
        self.origin = origin
        self.until = until
        self.outcome = outcome
        self.reason = reason
    }
}

/// What is known of a lane from before the process began.
public struct PersistedLaneState: Hashable, Sendable {
    public var lane: LaneID
    public var pauses: [LanePause]
    /// The applications of which nobody is believed to be gone (`PushService.application`).
    public var quarantines: [String]

    public init(lane: LaneID, pauses: [LanePause] = [], quarantines: [String] = []) {
        self.lane = lane
        self.pauses = pauses
        self.quarantines = quarantines
    }
}

/// Keeps what lanes know that a restart must not forget. It is written with the steps of deliveries (`DeliveryStep`).
public protocol LaneStore: Sendable {
    /// Every lane with a quarantine, or with a pause that is not over.
    func persistedLaneStates(at now: Timestamp) async throws(StorageError) -> [PersistedLaneState]

    /// Forgets the pauses of a hub, whose credentials have changed.
    func forgetPauses(of hub: Hub.ID) async throws(StorageError)
}
