/// The last channel and the last registration of an audience: later ones are not in it.
public struct AudienceBounds: Hashable, Sendable {
    public var channel: ChannelID
    /// The sequence number of a registration.
    public var registration: Int64

    public init(channel: ChannelID, registration: Int64) {
        self.channel = channel
        self.registration = registration
    }

    /// The bounds of a direct send, which needs none.
    public static let none = AudienceBounds(channel: .none, registration: 0)
}
