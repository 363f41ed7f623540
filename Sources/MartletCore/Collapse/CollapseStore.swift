public import MartletModel

/// Knows which notifications take the place of others.
public protocol CollapseStore: Sendable {
    /// Which of some devices a delivery is to spare, because another one with its key, on its hub and platform, began
    /// later and is for them: their places in the query, in order. A resend takes nobody's place: what it brings is as old
    /// as its original, and it is for few of whom that was for.
    func superseded(_ query: CollapseQuery) async throws(StorageError) -> [Int]
}

/// Devices that a delivery with a collapse key is about to reach.
public struct CollapseQuery: Sendable {
    /// Of a resend, the one as which it is ordered.
    public var delivery: Delivery.ID
    public var hub: Hub.ID
    public var platform: PlatformID
    public var key: String
    public var devices: CollapseDevices
    public var now: Timestamp

    public init(
        delivery: Delivery.ID, hub: Hub.ID, platform: PlatformID, key: String, devices: CollapseDevices, now: Timestamp
    ) {
        self.delivery = delivery
        self.hub = hub
        self.platform = platform
        self.key = key
        self.devices = devices
        self.now = now
    }
}

/// Devices by what a delivery knows of them.
public enum CollapseDevices: Sendable {
    case channels([ChannelID])
    /// Of a direct send: what the platform compares handles by.
    case handleKeys([String])
}
