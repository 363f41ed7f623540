/// Where a registration is now that had another handle when its page was read: what is tried again goes there.
public struct Successor: Hashable, Sendable {
    /// As which it was in the audience, and still is in progress maps, message ids and records.
    public var member: AudienceMember
    /// The registration's current channel, with its sequence number.
    public var registration: AudienceMember
    /// Of a native send the other channels that brought it, or would have brought it, to the device that has the handle
    /// now: that of the handle, and those that its other registrations had when the page was read.
    public var others: [ChannelID]
    /// Whether something is recorded of the handle as a member of its own.
    public var isRecorded: Bool

    public init(
        member: AudienceMember, registration: AudienceMember, others: [ChannelID] = [], isRecorded: Bool = false
    ) {
        self.member = member
        self.registration = registration
        self.others = others
        self.isRecorded = isRecorded
    }
}
