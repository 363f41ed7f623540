public import MartletModel

/// The collapse key with which a notification replaces earlier notifications. Two notifications compete if they have
/// the same key on the same platform of the same hub. If both are for the same device, the older one is no longer sent
/// to the device.
public struct Collapse: Hashable, Sendable {
    /// The collapse key of a native notification, from `PushPlatform.collapseKey(of:)`; empty for a composed message.
    private var key: String
    /// The collapse keys of a composed message, for each platform on which its payloads have one; empty for a native
    /// notification.
    public var keysByPlatform: [PlatformID: String]
    /// In a direct send, the keys by which the platform compares the handles of the send, in the order of the handles;
    /// otherwise empty.
    public var handleKeys: [String]

    public init(key: String, handleKeys: [String] = []) {
        self.key = key
        self.handleKeys = handleKeys
        keysByPlatform = [:]
    }

    public init(keysByPlatform: [PlatformID: String]) {
        key = ""
        handleKeys = []
        self.keysByPlatform = keysByPlatform
    }

    /// Returns the key on a platform; nil if the notification replaces no other notification on the platform.
    public func key(on platform: PlatformID) -> String? {
        keysByPlatform.isEmpty ? key : keysByPlatform[platform]
    }

    /// The key of a native notification; nil for a composed message, which has a key for each platform.
    public var onlyKey: String? { keysByPlatform.isEmpty ? key : nil }
}
