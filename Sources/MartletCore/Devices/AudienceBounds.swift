/// The last channel and the last registration of an audience. Later channels and registrations are not part of the
/// audience.
public struct AudienceBounds: Hashable, Sendable {
    public var channel: ChannelID
    /// The sequence number of the last registration.
    public var registration: Int64

    public init(channel: ChannelID, registration: Int64) {
        self.channel = channel
        self.registration = registration
    }

    /// The bounds of a direct send. Such a send has a list of handles instead of an audience.
    public static let none = AudienceBounds(channel: .none, registration: 0)
}
