import MartletModel

/// What the pushes of one page have come to: pure bookkeeping from outcomes to the step that is recorded.
struct PageTally {
    private(set) var counts: [OutcomeName: Int] = [:]
    private(set) var refusals: [Refusal] = []
    private(set) var retries: [Retry] = []
    private(set) var settled: [ChannelID] = []
    private(set) var feedback: [ChannelFeedback] = []
    /// Feedback that only counts while the lane is healthy.
    private(set) var guardedFeedback: [ChannelFeedback] = []
    /// The longest wait that the service asked for on behalf of the whole lane, or of a bad credential.
    private(set) var pause: Duration?
    /// Why the message can reach no device of the platform.
    private(set) var refusesAll: Outcome?
    private(set) var successes = 0
    /// Answers by which a handle is dead.
    private(set) var fatal = 0

    private let service: any PushService.Type
    private let policy: RetryPolicy
    private let now: Timestamp
    private let expiresAt: Timestamp
    /// Whether the channels come out of the retry table, so that what is final must leave it.
    private let areRetries: Bool

    init(
        service: any PushService.Type, policy: RetryPolicy, now: Timestamp, expiresAt: Timestamp, areRetries: Bool
    ) {
        self.service = service
        self.policy = policy
        self.now = now
        self.expiresAt = expiresAt
        self.areRetries = areRetries
    }

    mutating func addSuccesses(_ count: Int) {
        successes += count
        counts[.success, default: 0] += count
    }

    /// Channels reached by an earlier attempt of which nothing but the bit was left.
    mutating func settle(_ channel: ChannelID) {
        if areRetries { settled.append(channel) }
    }

    mutating func addSkipped(_ count: Int) {
        if count > 0 { counts[.skipped, default: 0] += count }
    }

    /// Counts devices that were spared a message which can reach none.
    mutating func addUnsent(_ count: Int, _ outcome: Outcome) {
        counts[outcome.name, default: 0] += count
    }

    /// Adds the outcome of one push that is more than a plain success.
    /// - Parameters:
    ///   - attempts: Attempts made, this one included.
    ///   - handle: Where it went; asked for only where it must be kept.
    mutating func add(
        _ outcome: Outcome, channel: ChannelID, attempts: Int, chance: Double, handle: () -> PushHandle
    ) {
        switch outcome.reaction {
        case .accepted:
            addSuccesses(1)
            settle(channel)
        case .drop(let moment, let guarded):
            fatal += 1
            let gone = ChannelFeedback(channel: channel, kind: .gone(asOf: moment))
            if guarded { guardedFeedback.append(gone) } else { feedback.append(gone) }
            refuse(outcome, channel)
        case .update(let new):
            addSuccesses(1)
            settle(channel)
            if let key = try? service.key(of: new) {
                feedback.append(ChannelFeedback(channel: channel, kind: .moved(new, key: key)))
            }
        case .refuse:
            refuse(outcome, channel)
        case .refuseAll:
            refusesAll = outcome
            refuse(outcome, channel)
        case .retry(let least, let scope):
            if scope == .platform { pause = max(pause ?? .zero, least) }
            retry(outcome, channel, least: least, attempts: attempts, chance: chance, handle: handle)
        case .retryElsewhere:
            retry(outcome, channel, least: .seconds(1), attempts: attempts, chance: chance, handle: handle)
        case .reauthorize, .stop:
            pause = max(pause ?? .zero, .seconds(30))
            retry(outcome, channel, least: .seconds(30), attempts: attempts, chance: chance, handle: handle)
        }
    }

    private mutating func retry(
        _ outcome: Outcome, _ channel: ChannelID, least: Duration, attempts: Int, chance: Double,
        handle: () -> PushHandle
    ) {
        guard
            let due = policy.next(
                after: least, attempts: attempts, now: now, expiresAt: expiresAt, chance: chance)
        else {
            refuse(Outcome(.abandoned, reason: outcome.reason, .refuse), channel)
            return
        }
        retries.append(
            Retry(
                channel: channel, attempts: attempts, dueAt: due, handle: handle(), outcome: outcome.name,
                reason: outcome.reason))
    }

    private mutating func refuse(_ outcome: Outcome, _ channel: ChannelID) {
        counts[outcome.name, default: 0] += 1
        refusals.append(Refusal(channel: channel, outcome: outcome.name, reason: outcome.reason, at: now))
        settle(channel)
    }
}
