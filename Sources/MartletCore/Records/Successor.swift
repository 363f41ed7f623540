public import MartletModel

/// The current channel of a registration whose handle has changed since its page was read. Retries are sent to this
/// channel.
public struct Successor: Hashable, Sendable {
    /// The member that the registration belonged to when its page was read. Progress maps, message ids and records
    /// still use this member.
    public var member: AudienceMember
    /// The current channel of the registration, with its sequence number.
    public var registration: AudienceMember
    /// Other members whose pushes may have reached the device with the current handle. The device was reached if the
    /// progress map contains one of them. Members whose pushes were sent to another handle are not included.
    public var others: [AudienceMember]
    /// True if the push to another member has reached the current handle, because the registration of that member had
    /// moved to this handle too.
    public var isReached: Bool
    /// The retry of another member that will go to the current handle; nil if there is none.
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

/// For some members of a delivery, the current channels of those registrations whose channels have changed since the
/// page with the member was read.
public struct Successors: Hashable, Sendable {
    public var moved: [Successor] = []
    /// The members whose own handle was reached by the push to another member, because the registration of that other
    /// member had moved to this handle. Members in this set may also be in `moved`.
    public var reached: Set<AudienceMember> = []

    public init() {}
}
