public import MartletModel

/// Knows which notifications take the place of others.
public protocol CollapseStore: Sendable {
    /// Which of some devices a delivery is to spare, because another one with its key, on its hub and platform, began
    /// later and is for them. A resend takes nobody's place: what it brings is as old as its original, and it is for few
    /// of whom that was for.
    ///
    /// Costs the same however many began later, where they are for the same target.
    func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded
}

/// The devices of a query for which a later delivery is.
public struct Superseded: Hashable, Sendable {
    /// Indices into the devices of the query, in order.
    public var devices: [Int]
    /// The newest of the later deliveries that were found, where it is not over.
    public var newest: Delivery.ID?

    public init(devices: [Int] = [], newest: Delivery.ID? = nil) {
        self.devices = devices
        self.newest = newest
    }
}

/// Devices that a delivery with a collapse key is about to reach.
public struct CollapseQuery: Sendable {
    /// Of a resend, the one as which it is ordered.
    public var delivery: Delivery.ID
    public var hub: Hub.ID
    public var platform: PlatformID
    public var key: String
    public var devices: CollapseDevices
    /// The target that channels were found by just now: a later delivery to the same is for all of them.
    public var target: Notification.Target
    public var now: Timestamp

    public init(
        delivery: Delivery.ID, hub: Hub.ID, platform: PlatformID, key: String, devices: CollapseDevices,
        target: Notification.Target, now: Timestamp
    ) {
        self.delivery = delivery
        self.hub = hub
        self.platform = platform
        self.key = key
        self.devices = devices
        self.target = target
        self.now = now
    }
}

/// Devices by what a delivery knows of them.
public enum CollapseDevices: Sendable {
    case channels([ChannelID])
    /// Of a round of retries: registrations that have other channels by now than as members of the audience.
    case followed([FollowedRegistration])
    /// Of a direct send: what the platform compares handles by.
    case handleKeys([String])
}

/// A registration that has another channel by now than when it was in the audience.
public struct FollowedRegistration: Hashable, Sendable {
    /// Its sequence number, with the channel that it has.
    public var registration: AudienceMember
    /// The channel as which it is a member: a later notification that was accepted while it had that is for it as well.
    public var member: ChannelID

    public init(registration: AudienceMember, member: ChannelID) {
        self.registration = registration
        self.member = member
    }
}
