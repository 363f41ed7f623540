public import MartletModel

/// The id of a lane: one platform of one hub.
public struct LaneID: Hashable, Sendable {
    public var hub: Hub.ID
    public var platform: PlatformID

    public init(hub: Hub.ID, platform: PlatformID) {
        self.hub = hub
        self.platform = platform
    }
}

/// A stored pause of a lane or of one origin. It is stored so that after a restart nothing is sent earlier than the
/// push service allows.
public struct LanePause: Hashable, Sendable {
    /// The scheme, host and port of the paused origin; nil if the whole lane is paused.
    public var origin: String?
    public var until: Timestamp
    /// The outcome that caused the pause.
    public var outcome: OutcomeName
    public var reason: String

    public init(origin: String? = nil, until: Timestamp, outcome: OutcomeName, reason: String) {
        self.origin = origin
        self.until = until
        self.outcome = outcome
        self.reason = reason
    }
}

/// The state of a lane that an earlier process has stored.
public struct PersistedLaneState: Hashable, Sendable {
    public var lane: LaneID
    public var pauses: [LanePause]
    /// The applications in quarantine (`PushService.application`).
    public var quarantines: [String]

    public init(lane: LaneID, pauses: [LanePause] = [], quarantines: [String] = []) {
        self.lane = lane
        self.pauses = pauses
        self.quarantines = quarantines
    }

    /// Returns the state, with each pause shortened to end at `latest` if it would end later. The clock may have been
    /// ahead when a pause was stored, and a process that starts cannot know that the clock was set back since.
    func limitingPauses(to latest: Timestamp) -> PersistedLaneState {
        var state = self
        for index in state.pauses.indices { state.pauses[index].until = min(state.pauses[index].until, latest) }
        return state
    }
}

/// Stores the state of lanes, so that it survives restarts. The state is written together with the steps of deliveries
/// (`DeliveryStep`).
public protocol LaneStore: Sendable {
    /// Returns the state of every lane with a quarantine, or with a pause that has not ended.
    func persistedLaneStates(at now: Timestamp) async throws(StorageError) -> [PersistedLaneState]

    /// Deletes the pauses of a hub whose credentials have changed.
    func forgetPauses(of hub: Hub.ID) async throws(StorageError)
}
