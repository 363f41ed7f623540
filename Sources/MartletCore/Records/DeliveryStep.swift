public import MartletModel

/// The result of one page, or of one round of retries, as it is recorded in one transaction.
public struct DeliveryStep: Sendable {
    public var delivery: Delivery.ID
    /// The member after which the next page begins; nil in a round of retries, which leaves the cursor unchanged.
    public var cursor: AudienceMember?
    public var isFannedOut: Bool
    public var state: NotificationState
    /// The time when the delivery started; set in the first step.
    public var startedAt: Timestamp?
    public var endedAt: Timestamp?
    /// The number of pushes with each outcome, which is added to the stored counts.
    public var counts: [OutcomeName: Int]
    public var refusals: [Refusal]
    /// The retries to store. A retry replaces an earlier retry of the same member.
    public var retries: [Retry]
    /// The members whose retries have ended.
    public var settled: [AudienceMember]
    /// The record of the page; nil in a round of retries.
    public var range: RangeRecord?
    public var attempts: [Attempt]
    /// The members that the delivery has reached; set in a step with a final state.
    public var reached: [DeliveredBitmap]
    /// The blocks with members that the step has reached; nil if it has reached none, if `reached` has them, or if the
    /// store keeps none of a delivery that still runs (`NotificationStore.reachedStore`).
    public var newlyReached: ReachedBlocks?
    /// The pauses of the lane and of origins that the page has begun or extended.
    public var pauses: [LanePause] = []
    /// The quarantines of the lane that the page has begun (true) or ended (false), keyed by application
    /// (`PushService.application(of:)`).
    public var quarantines: [String: Bool] = [:]
    /// The time when the page or the round of retries began; set in a roll-out.
    public var sentAt: Timestamp?
    /// True if the delivery supersedes no other delivery from now on, even with a collapse key, because it has sent
    /// nothing and will send nothing.
    public var supersedesNone = false

    /// The time when the pages of a delivery to a sample ended; set in the step that ends them.
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

extension DeliveryStep {
    /// The channels of refusals whose handles are removed, unless they were registered again since a stated time.
    public var channelsToCheck: [ChannelID] {
        refusals.indices.filter { refusals[$0].mayBeRenewed }.map { refusals[$0].channel }
    }

    /// Records a handle as kept if it was registered again after the time since when the push service calls it dead. The
    /// removal that follows the step keeps the same handles (`ChannelFeedback.Kind.gone`).
    /// - Parameter registrationTime: Returns when the handle of a channel was last registered; nil if the channel is
    ///   gone. It is asked about `channelsToCheck`, in their order.
    /// - Throws: What `registrationTime` throws.
    public mutating func keepRenewedHandles<Failure>(
        registrationTime: (ChannelID) throws(Failure) -> Timestamp?
    ) throws(Failure) {
        for index in refusals.indices where refusals[index].mayBeRenewed {
            guard let since = refusals[index].goneSince, let time = try registrationTime(refusals[index].channel),
                time > since
            else { continue }
            refusals[index].fate = .kept
        }
    }
}

/// A push that ended without success.
public struct Refusal: Hashable, Sendable {
    public var member: AudienceMember
    /// The registration with its current channel, if that channel differs from the channel of the member.
    public var registration: AudienceMember?
    /// The handle to which the push was sent; nil if the device was already gone.
    public var handle: PushHandle?
    public var outcome: OutcomeName
    /// The reason in the push service's own words, such as `BadDeviceToken`.
    public var reason: String
    public var at: Timestamp
    /// The number of attempts of the push, including the refused one.
    public var attempts: Int
    /// The push service's answer; nil if nothing was sent.
    public var answer: PushAnswer?
    public var fate: HandleFate
    /// The time since when the handle is dead, if the push service stated one before the refusal. A handle that was
    /// registered again after this time is kept.
    public var goneSince: Timestamp?

    /// Whether the handle is removed unless it was registered again since `goneSince`.
    fileprivate var mayBeRenewed: Bool { fate == .removed && goneSince != nil }

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

    /// The channel that the push was for: the registration's current channel if the registration had moved, otherwise
    /// the channel of the member.
    public var channel: ChannelID { registration?.channel ?? member.channel }
}

/// A push that will be tried again. Its handle is looked up when the retry is due, because before that time the device
/// may get another user or another handle, or be unregistered. If the registration has a new handle, the push is sent
/// to the new handle.
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
