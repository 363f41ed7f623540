public import MartletModel

/// The result of one page, or of one round of retries.
public struct DeliveryStep: Sendable {
    public var delivery: Delivery.ID
    /// The new cursor; nil leaves the cursor unchanged, in a round of retries.
    public var cursor: AudienceMember?
    public var isFannedOut: Bool
    public var state: NotificationState
    /// When the delivery started. Set in the first step, and in a step with a final state.
    public var startedAt: Timestamp?
    public var endedAt: Timestamp?
    /// The counts to add to the stored counts.
    public var counts: [OutcomeName: Int]
    public var refusals: [Refusal]
    /// The retries to insert. A retry replaces the member's existing retry, if there is one.
    public var retries: [Retry]
    /// Members whose retries have ended.
    public var settled: [AudienceMember]
    /// The record of the page; nil in a round of retries.
    public var range: RangeRecord?
    public var attempts: [Attempt]
    /// The members that the delivery has reached; set in a step with a final state.
    public var reached: [DeliveredBitmap]
    /// Pauses of the lane and of origins that the page has begun or extended.
    public var pauses: [LanePause] = []
    /// Quarantines of the lane that the page has begun (true) or ended (false), by application.
    public var quarantines: [String: Bool] = [:]
    /// When the page, or the round of retries, of these pushes began; set in a roll-out.
    public var sentAt: Timestamp?
    /// Whether the delivery supersedes no other delivery from now on, even with a collapse key, because it has sent
    /// nothing and will send nothing.
    public var supersedesNone = false

    /// Set in a step that ends the pages of a delivery to a sample: when it ended them.
    public var sampleEndsAt: Timestamp?

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

/// A push that ended without success.
public struct Refusal: Sendable {
    public var member: AudienceMember
    /// The registration with its current channel, if that channel differs from the channel of the member.
    public var registration: AudienceMember?
    /// The handle that was sent to; nil if the device was already gone.
    public var handle: PushHandle?
    public var outcome: OutcomeName
    /// The push service's own word, such as `BadDeviceToken`.
    public var reason: String
    public var at: Timestamp
    /// The number of attempts, including this one.
    public var attempts: Int
    /// The push service's answer; nil if nothing was sent.
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

    /// The channel of the push.
    public var channel: ChannelID { registration?.channel ?? member.channel }
}

/// A push that will be tried again. Its handle is looked up when the retry is due, because until then the device may
/// get another user or another handle, or be unregistered. If the registration has a new handle, the push is sent to
/// the new handle.
public struct Retry: Sendable {
    public var member: AudienceMember
    /// The number of attempts that failed because of the push itself; other attempts are not counted.
    public var attempts: Int
    public var dueAt: Timestamp
    /// The outcome of the last attempt; it is counted if there is no further attempt.
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
