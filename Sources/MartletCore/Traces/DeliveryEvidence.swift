/// The records of some members of a delivery.
public struct DeliveryEvidence: Sendable {
    public var progress: DeliveryProgress
    public var members: [AudienceMember: MemberEvidence]

    public init(progress: DeliveryProgress, members: [AudienceMember: MemberEvidence] = [:]) {
        self.progress = progress
        self.members = members
    }
}

/// The records of one member of a delivery.
public struct MemberEvidence: Sendable {
    /// The maximum number of attempts that are returned; these are the latest.
    public static let attemptLimit = 1000

    /// The record of the page that contains the member, or would contain it if the member were in the audience; nil
    /// until the page has been read.
    public var range: RangeRecord?
    /// The final refusal.
    public var refusal: Refusal?
    /// The retry that the member waits for.
    public var retry: Retry?
    /// The attempts, in order. A first attempt that was also the last is not included.
    public var attempts: [Attempt]
    /// Whether the member was reached. While the delivery is unfinished, this is read from its progress map.
    public var isReached: Bool

    public init(
        range: RangeRecord? = nil, refusal: Refusal? = nil, retry: Retry? = nil, attempts: [Attempt] = [],
        isReached: Bool = false
    ) {
        self.range = range
        self.refusal = refusal
        self.retry = retry
        self.attempts = attempts
        self.isReached = isReached
    }
}
