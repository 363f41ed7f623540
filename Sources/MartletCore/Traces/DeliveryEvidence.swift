/// What is kept of some members of a delivery.
public struct DeliveryEvidence: Sendable {
    public var progress: DeliveryProgress
    public var members: [AudienceMember: MemberEvidence]

    public init(progress: DeliveryProgress, members: [AudienceMember: MemberEvidence] = [:]) {
        self.progress = progress
        self.members = members
    }
}

/// What is kept of one member of a delivery.
public struct MemberEvidence: Sendable {
    /// The most attempts that are told, the last ones.
    public static let attemptLimit = 1000

    /// What became of the page that the member is in, or would be if it were in the audience; nil until it was read.
    public var range: RangeRecord?
    /// What it was refused with for good.
    public var refusal: Refusal?
    /// What it waits for.
    public var retry: Retry?
    /// In the order in which they were made; without the first where that was the last.
    public var attempts: [Attempt]
    /// Whether it was reached; of a delivery that is under way its progress map knows.
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
