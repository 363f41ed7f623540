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
    /// The most attempts that are returned, the latest ones.
    public static let attemptLimit = 1000

    /// The record of the page that the member is in, or would be in if it were in the audience; nil until the page was
    /// read.
    public var range: RangeRecord?
    /// The final refusal.
    public var refusal: Refusal?
    /// The retry that the member waits for.
    public var retry: Retry?
    /// In order; a first attempt that was also the last is not included.
    public var attempts: [Attempt]
    /// Whether the member was reached; while the delivery is unfinished, its progress map knows.
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
