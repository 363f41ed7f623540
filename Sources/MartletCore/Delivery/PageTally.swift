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
    private var wantedPause: Duration?
    /// Pushes that the service has answered, and those that it has not.
    private(set) var answered = 0
    private var unanswered = 0
    /// Why the message can reach no device of the platform.
    private(set) var refusesAll: Outcome?
    private(set) var successes = 0
    /// Answers by which a handle is dead.
    private(set) var fatal = 0

    private let platform: (any PushPlatform.Type)?
    private let policy: RetryPolicy
    private let now: Timestamp
    private let expiresAt: Timestamp
    /// Whether the channels come out of the retry table, so that what is final must leave it.
    private let areRetries: Bool

    init(
        platform: (any PushPlatform.Type)?, policy: RetryPolicy, now: Timestamp, expiresAt: Timestamp,
        areRetries: Bool
    ) {
        self.platform = platform
        self.policy = policy
        self.now = now
        self.expiresAt = expiresAt
        self.areRetries = areRetries
    }

    /// The last outcome by which the lane is to pause.
    private(set) var pauseCause: Outcome?

    /// How long the lane is to pause at least; nil where it need not. A service that has answered nothing at all is
    /// down, even if it takes connections.
    var pause: Duration? {
        wantedPause ?? (unanswered > 0 && answered == 0 ? .zero : nil)
    }

    mutating func addSuccesses(_ count: Int) {
        answered += count
        successes += count
        counts[.success, default: 0] += count
    }

    /// Counts channels that an earlier attempt reached, of which nothing but the bit was left.
    mutating func addReached(_ count: Int) {
        if count > 0 { counts[.success, default: 0] += count }
    }

    /// Ends the retry of a channel, where it has one.
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
    mutating func add(_ outcome: Outcome, channel: ChannelID, attempts: Int, chance: Double) {
        if outcome.name == .pnsUnreachable {
            unanswered += 1
            pauseCause = outcome
        } else {
            answered += 1
        }
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
            if let key = try? platform?.key(of: new) {
                feedback.append(ChannelFeedback(channel: channel, kind: .moved(new, key: key)))
            }
        case .refuse:
            refuse(outcome, channel)
        case .refuseAll:
            refusesAll = outcome
            refuse(outcome, channel)
        case .retry(let least, let scope):
            guard scope == .platform else {
                return retry(outcome, channel, least: least, attempts: attempts, chance: chance)
            }
            pauseLane(outcome, channel, atLeast: least, attempts: attempts)
        case .retryElsewhere:
            retry(outcome, channel, least: .seconds(1), attempts: attempts, chance: chance)
        case .reauthorize, .stop:
            pauseLane(outcome, channel, atLeast: .seconds(30), attempts: attempts)
        }
    }

    /// The channel's push is held up by nothing but its lane, so it goes as soon as that is open, and this attempt does
    /// not count.
    private mutating func pauseLane(_ outcome: Outcome, _ channel: ChannelID, atLeast least: Duration, attempts: Int) {
        wantedPause = max(wantedPause ?? .zero, least)
        pauseCause = outcome
        retries.append(
            Retry(
                channel: channel, attempts: attempts - 1, dueAt: now, outcome: outcome.name, reason: outcome.reason))
    }

    private mutating func retry(
        _ outcome: Outcome, _ channel: ChannelID, least: Duration, attempts: Int, chance: Double
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
                channel: channel, attempts: attempts, dueAt: due, outcome: outcome.name, reason: outcome.reason))
    }

    private mutating func refuse(_ outcome: Outcome, _ channel: ChannelID) {
        refuse(outcome.name, outcome.reason, channel)
    }

    private mutating func refuse(_ name: OutcomeName, _ reason: String, _ channel: ChannelID) {
        counts[name, default: 0] += 1
        refusals.append(Refusal(channel: channel, outcome: name, reason: reason, at: now))
        settle(channel)
    }

    /// Ends a retry with what the last attempt came to: its device is not in the audience any more.
    mutating func giveUp(_ retry: Retry) {
        refuse(retry.outcome, retry.reason, retry.channel)
    }
}
