/// One handle of one platform in one hub, however many registrations share it. Fan-out, retries and progress maps use
/// channels in the order of their ids.
public struct ChannelID: RawRepresentable, Hashable, Comparable, Sendable {
    /// From 1, assigned in the order of first registration and never reused.
    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Before every channel; also stands for the target of a direct send, which has none.
    public static let none = ChannelID(rawValue: 0)

    public static func < (left: ChannelID, right: ChannelID) -> Bool { left.rawValue < right.rawValue }
}
