/// Lets a notification replace earlier ones. Among the notifications of a hub to a platform with the same key, a device
/// is sent none that is older than another one whose audience the device is in.
public struct Collapse: Hashable, Sendable {
    /// The result of `PushPlatform.collapseKey(of:)`.
    public var key: String
    /// In a direct send, the keys by which the platform compares its handles, in the order of the handles; empty
    /// otherwise.
    public var handleKeys: [String]

    public init(key: String, handleKeys: [String] = []) {
        self.key = key
        self.handleKeys = handleKeys
    }
}
