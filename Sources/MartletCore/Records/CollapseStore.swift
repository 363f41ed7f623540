public import MartletModel

/// Finds the notifications that supersede other notifications.
public protocol CollapseStore: Sendable {
    /// Returns the devices that a delivery must skip, because a later delivery supersedes it on these devices. The
    /// later delivery has the same key, hub and platform, began later, and is also for these devices. A resend
    /// supersedes nothing, because its content is as old as its original, and it is for only some of the original's
    /// devices.
    ///
    /// The cost does not depend on the number of later deliveries if they all have the same tag expression, because
    /// only the latest of them is read.
    func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded

    /// Lets a delivery supersede nothing from now on. Used for a delivery that was canceled or has expired, and of which
    /// nothing was sent. Does nothing if the delivery does not exist.
    func supersedeNothing(_ delivery: Delivery.ID, in hub: Hub.ID) async throws(StorageError)
}

/// The result of a collapse query: which devices must be skipped, because a later delivery is also for them.
public struct Superseded: Hashable, Sendable {
    /// The devices to skip, as indices into the devices of the query, in ascending order.
    public var devices: [Int]
    /// The newest of the later deliveries, if it is unfinished; otherwise nil.
    public var newest: Delivery.ID?
    /// Those of the later deliveries that are canceled or expired, but not finished, and of which no page is recorded,
    /// in ascending order; for each device at least its newest. If nothing of them was sent either, they must supersede
    /// nothing.
    public var unsent: [Delivery.ID]

    public init(devices: [Int] = [], newest: Delivery.ID? = nil, unsent: [Delivery.ID] = []) {
        self.devices = devices
        self.newest = newest
        self.unsent = unsent
    }
}

/// Asks which devices a delivery with a collapse key must skip, among the devices to which it is about to send.
public struct CollapseQuery: Sendable {
    /// The delivery that is about to send. For a resend or a part, the delivery whose place in the order of deliveries
    /// the resend or the part takes (`Delivery.rank`).
    public var delivery: Delivery.ID
    public var hub: Hub.ID
    public var platform: PlatformID
    public var key: String
    public var devices: CollapseDevices
    /// The target of the delivery. The channels in `devices` were just read from the audience of this target. Therefore
    /// a later delivery with the same target is for all these channels.
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

/// The devices of a query, in the form in which a delivery identifies them.
public enum CollapseDevices: Sendable {
    case channels([ChannelID])
    /// In a round of retries, the registrations whose channels have changed since they became members of the audience.
    case followed([FollowedRegistration])
    /// The keys by which the platform compares handles, for the devices of a direct send.
    case handleKeys([String])
}

/// A registration whose channel has changed since it was in the audience.
public struct FollowedRegistration: Hashable, Sendable {
    /// The sequence number and the current channel of the registration.
    public var registration: AudienceMember
    /// The channel that the registration had as a member of the audience. A later notification that was accepted while
    /// the registration had this channel is also for the registration.
    public var member: ChannelID

    public init(registration: AudienceMember, member: ChannelID) {
        self.registration = registration
        self.member = member
    }
}
