public import MartletModel

/// What one page, or one round of retries, has come to.
public struct DeliveryStep: Sendable {
    public var delivery: Delivery.ID
    /// nil leaves the cursor: a round of retries.
    public var cursor: AudienceMember?
    public var isFannedOut: Bool
    public var state: NotificationState
    /// Set with the first step, and with a final state.
    public var startedAt: Timestamp?
    public var endedAt: Timestamp?
    /// Added to what is there.
    public var counts: [OutcomeName: Int]
    public var refusals: [Refusal]
    /// Put in, or replaced where the member has one.
    public var retries: [Retry]
    /// Members whose retry is over.
    public var settled: [AudienceMember]
    /// What the page has come to, where it is one.
    public var range: RangeRecord?
    public var attempts: [Attempt]
    /// With a final state, whom the delivery has reached.
    public var reached: [DeliveredBitmap]
    /// Pauses of the lane, and of origins, that the page has begun or prolonged.
    public var pauses: [LanePause] = []
    /// Quarantines of the lane that have begun with the page, or ended, by application.
    public var quarantines: [String: Bool] = [:]
    /// Of a roll-out, when the page or the round of retries began whose pushes it tells of.
    public var sentAt: Timestamp?
    /// Nothing of it went out, and nothing will: with a collapse key it supersedes nobody from now on.
    public var supersedesNone = false

    public init(
        delivery: Delivery.ID, cursor: AudienceMember? = nil, isFannedOut: Bool, state: NotificationState,
        startedAt: Timestamp? = nil, endedAt: Timestamp? = nil, counts: [OutcomeName: Int] = [:],
        refusals: [Refusal] = [], retries: [Retry] = [], settled: [AudienceMember] = [],
        range: RangeRecord? = nil, attempts: [Attempt] = [], reached: [DeliveredBitmap] = []
    ) {
        self.delivery = delivery
        self.cursor = cursor
        self.isFannedOut = isFannedOut
        self.state = state
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.counts = counts
        self.refusals = refusals
        self.retries = retries
        self.settled = settled
        self.range = range
        self.attempts = attempts
        self.reached = reached
    }
}

/// A push that the service did not take for good.
public struct Refusal: Sendable {
    public var member: AudienceMember
    /// The registration with its current channel, where that is not the member's.
    public var registration: AudienceMember?
    /// Where it was sent to; nil where the device was gone before.
    public var handle: PushHandle?
    public var outcome: OutcomeName
    /// The service's own word, such as `BadDeviceToken`.
    public var reason: String
    public var at: Timestamp
    /// The attempts that were made, this one included.
    public var attempts: Int
    /// nil where nothing was sent.
    public var answer: PushAnswer?
    public var fate: HandleFate

    public init(
        member: AudienceMember, registration: AudienceMember? = nil, handle: PushHandle?, outcome: OutcomeName,
        reason: String, at: Timestamp, attempts: Int = 1, answer: PushAnswer? = nil, fate: HandleFate = .kept
    ) {
        self.registration = registration
        self.attempts = attempts
        self.answer = answer
        self.fate = fate
        self.member = member
        self.handle = handle
        self.outcome = outcome
        self.reason = reason
        self.at = at
    }

    /// The channel that was sent to.
    public var channel: ChannelID { registration?.channel ?? member.channel }
}

/// A push that is to be tried again. Where it goes to is asked when its time has come: the device may have another user,
/// another handle or none by then. A registration that has another handle is followed to it.
public struct Retry: Sendable {
    public var member: AudienceMember
    /// Attempts made so far that count: those that failed for their own sake.
    public var attempts: Int
    public var dueAt: Timestamp
    /// What the last attempt came to, counted if no further one is made.
    public var outcome: OutcomeName
    public var reason: String

    public init(member: AudienceMember, attempts: Int, dueAt: Timestamp, outcome: OutcomeName, reason: String) {
        self.member = member
        self.attempts = attempts
        self.dueAt = dueAt
        self.outcome = outcome
        self.reason = reason
    }
}
