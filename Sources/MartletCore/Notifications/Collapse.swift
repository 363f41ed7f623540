public import MartletModel

/// Lets a notification replace earlier ones. Among the notifications of a hub to a platform with the same key, a device
/// is sent none that is older than another one whose audience the device is in.
public struct Collapse: Hashable, Sendable {
    /// The result of `PushPlatform.collapseKey(of:)`; empty for a composed message.
    private var key: String
    /// The same for each platform of a composed message whose payloads have one.
    public var keysByPlatform: [PlatformID: String]
    /// In a direct send, the keys by which the platform compares its handles, in the order of the handles; empty
    /// otherwise.
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

    /// The key on a platform; nil if no notification replaces another there.
    public func key(on platform: PlatformID) -> String? {
        keysByPlatform.isEmpty ? key : keysByPlatform[platform]
    }

    /// The key of a notification on one platform.
    public var onlyKey: String? { keysByPlatform.isEmpty ? key : nil }
}
