/// That a notification takes the place of those before it: of a hub's notifications to a platform with one key, a device
/// is sent none that is older than another it is in the audience of.
public struct Collapse: Hashable, Sendable {
    /// As `PushPlatform.collapseKey(of:)` gives it.
    public var key: String
    /// Of a direct send what the platform compares its handles by, in their order; empty otherwise.
    public var handleKeys: [String]

    public init(key: String, handleKeys: [String] = []) {
        self.key = key
        self.handleKeys = handleKeys
    }
}
