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
    /// The maximum number of attempts of a member that are returned. If there are more, the latest ones are returned.
    public static let attemptLimit = 1000

    /// The record of the page that contains the member, or would contain the member if it were in the audience; nil
    /// until that page has been read.
    public var range: RangeRecord?
    /// The refusal of the push, if it was refused.
    public var refusal: Refusal?
    /// The retry that the member waits for; nil if there is none.
    public var retry: Retry?
    /// The attempts, in the order in which they were made. A first attempt that was also the last is not included.
    public var attempts: [Attempt]
    /// True if the member was reached. While the delivery is unfinished, the progress map decides this, or the store if
    /// it keeps the reached members of running deliveries (`ReachedStore`).
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
