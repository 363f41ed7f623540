/// The current channel of a registration whose handle has changed since its page was read. Its retries go there.
public struct Successor: Hashable, Sendable {
    /// The original member, which progress maps, message ids and records still use.
    public var member: AudienceMember
    /// The current channel of the registration, with its sequence number.
    public var registration: AudienceMember
    /// In a native send, the other channels through which the device with the current handle was or would have been
    /// reached: the channel of that handle, and those that its other registrations had when the page was read.
    public var others: [ChannelID]
    /// Whether there is a record of the current handle as a member of its own.
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
