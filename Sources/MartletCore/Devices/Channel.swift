/// The id of a channel: one handle of one platform in one hub, regardless of how many registrations share it. Fan-out,
/// retries and progress maps process channels in the order of their ids.
public struct ChannelID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number of the channel, from 1. Numbers are assigned in the order of first registration and never reused.
    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// An id that comes before the id of every channel. It also stands for the missing channel of a direct send.
    public static let none = ChannelID(rawValue: 0)

    public static func < (left: ChannelID, right: ChannelID) -> Bool { left.rawValue < right.rawValue }
}
