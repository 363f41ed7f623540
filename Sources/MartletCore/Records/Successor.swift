public import MartletModel

/// The current channel of a registration whose handle has changed since its page was read. Retries are sent to this
/// channel.
public struct Successor: Hashable, Sendable {
    /// The original member, which is still used by progress maps, message ids and records.
    public var member: AudienceMember
    /// The current channel of the registration, with its sequence number.
    public var registration: AudienceMember
    /// The other members through which the device with the current handle was reached if their bits are in the progress
    /// map. Members that were followed to another handle are not included.
    public var others: [AudienceMember]
    /// True if a push to another member was followed to the current handle, and reached it.
    public var isReached: Bool
    /// Another member whose retry will go to the current handle; nil if there is none.
    public var awaited: AwaitedRetry?

    public init(
        member: AudienceMember, registration: AudienceMember, others: [AudienceMember] = [], isReached: Bool = false,
        awaited: AwaitedRetry? = nil
    ) {
        self.member = member
        self.registration = registration
        self.others = others
        self.isReached = isReached
        self.awaited = awaited
    }
}

/// A retry that another retry waits for, because both would go to the same handle.
public struct AwaitedRetry: Hashable, Sendable {
    public var member: AudienceMember
    public var dueAt: Timestamp

    public init(member: AudienceMember, dueAt: Timestamp) {
        self.member = member
        self.dueAt = dueAt
    }
}

/// The current channels of the registrations that some members of a delivery had when their page was read.
public struct Successors: Hashable, Sendable {
    public var moved: [Successor] = []
    /// The members whose own handle was reached by following another member to it. These members may have successors as
    /// well.
    public var reached: Set<AudienceMember> = []

    public init() {}
}
