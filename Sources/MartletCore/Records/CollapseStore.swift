public import MartletModel

/// Finds the notifications that supersede others.
public protocol CollapseStore: Sendable {
    /// Finds the devices that a delivery must skip, because another delivery with the same key, of the same hub and
    /// platform, began later and is for them. A resend supersedes nothing: its content is as old as its original, and
    /// it is for only some of the original's devices.
    ///
    /// The cost does not depend on the number of later deliveries if they have the same target.
    func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded
}

/// The devices of a query that a later delivery is for.
public struct Superseded: Hashable, Sendable {
    /// Indices into the devices of the query, in order.
    public var devices: [Int]
    /// The newest of the later deliveries that were found, if it is unfinished.
    public var newest: Delivery.ID?

    public init(devices: [Int] = [], newest: Delivery.ID? = nil) {
        self.devices = devices
        self.newest = newest
    }
}

/// The devices that a delivery with a collapse key is about to send to.
public struct CollapseQuery: Sendable {
    /// In a resend, the delivery that determines its order.
    public var delivery: Delivery.ID
    public var hub: Hub.ID
    public var platform: PlatformID
    public var key: String
    public var devices: CollapseDevices
    /// The target by which the channels were just found: a later delivery with the same target is for all of them.
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

/// Devices in the form in which a delivery knows them.
public enum CollapseDevices: Sendable {
    case channels([ChannelID])
    /// In a round of retries: registrations whose channels have changed since they became members of the audience.
    case followed([FollowedRegistration])
    /// In a direct send: the keys by which the platform compares handles.
    case handleKeys([String])
}

/// A registration whose channel has changed since it was in the audience.
public struct FollowedRegistration: Hashable, Sendable {
    /// The sequence number and the current channel.
    public var registration: AudienceMember
    /// The channel of the member: a later notification that was accepted while the registration had this channel is for
    /// it too.
    public var member: ChannelID

    public init(registration: AudienceMember, member: ChannelID) {
        self.registration = registration
        self.member = member
    }
}
