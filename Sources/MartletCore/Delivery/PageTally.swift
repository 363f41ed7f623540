import MartletModel

/// What the pushes of one page have come to: pure bookkeeping from outcomes to the step that is recorded.
struct PageTally {
    private(set) var counts: [OutcomeName: Int] = [:]
    private(set) var refusals: [Refusal] = []
    /// Members that were spared the message, which is not kept of any of them.
    private(set) var spared: [AudienceMember: Outcome] = [:]
    private(set) var retries: [Retry] = []
    private(set) var settled: [AudienceMember] = []
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
    /// Whether the members come out of the retry table, so that what is final must leave it.
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

    /// Counts members that an earlier attempt reached, of which nothing but the bit was left.
    mutating func addReached(_ count: Int) {
        if count > 0 { counts[.success, default: 0] += count }
    }

    /// Ends the retry of a member, where it has one.
    mutating func settle(_ member: AudienceMember) {
        if areRetries { settled.append(member) }
    }

    mutating func addSkipped(_ count: Int) {
        if count > 0 { counts[.skipped, default: 0] += count }
    }

    /// Adds a push that was not made because there is nothing that could be sent.
    mutating func addUnsent(_ outcome: Outcome, to addressee: Addressee) {
        guard outcome.reaction != .stop else { return pauseLane(outcome, addressee, atLeast: .seconds(30)) }
        guard outcome.name != .skipped else { return spare(outcome, addressee.member) }
        refuse(outcome, addressee)
    }

    private mutating func spare(_ outcome: Outcome, _ member: AudienceMember) {
        addSkipped(1)
        spared[member] = outcome
        settle(member)
    }

    /// Counts devices that were spared a message which can reach none.
    mutating func addUnsent(_ count: Int, _ outcome: Outcome) {
        counts[outcome.name, default: 0] += count
    }

    /// Whom a push went to.
    struct Addressee {
        var member: AudienceMember
        /// nil where the device is gone.
        var handle: PushHandle?
        /// Attempts made, the last one included.
        var attempts: Int
    }

    /// Adds the outcome of one push that is more than a plain success.
    mutating func add(_ outcome: Outcome, to addressee: Addressee, chance: Double) {
        if case .retry(_, .origin) = outcome.reaction {
            // Neither an answer of the service nor its silence.
        } else if outcome.name == .pnsUnreachable {
            unanswered += 1
            pauseCause = outcome
        } else {
            answered += 1
        }
        switch outcome.reaction {
        case .accepted:
            addSuccesses(1)
            settle(addressee.member)
        case .drop(let moment, let guarded):
            fatal += 1
            // A direct send says nothing of a channel.
            if addressee.member.channel != .none {
                let gone = ChannelFeedback(channel: addressee.member.channel, kind: .gone(asOf: moment))
                if guarded { guardedFeedback.append(gone) } else { feedback.append(gone) }
            }
            refuse(outcome, addressee)
        case .update(let new):
            addSuccesses(1)
            settle(addressee.member)
            let isOld = new == addressee.handle
            if !isOld, addressee.member.channel != .none, let key = try? platform?.key(of: new) {
                feedback.append(ChannelFeedback(channel: addressee.member.channel, kind: .moved(new, key: key)))
            }
        case .refuse:
            refuse(outcome, addressee)
        case .refuseAll:
            refusesAll = outcome
            refuse(outcome, addressee)
        case .retry(let least, let scope):
            guard scope == .platform else { return retry(outcome, addressee, least: least, chance: chance) }
            pauseLane(outcome, addressee, atLeast: least)
        case .retryElsewhere:
            retry(outcome, addressee, least: .seconds(1), chance: chance)
        case .reauthorize, .stop:
            pauseLane(outcome, addressee, atLeast: .seconds(30))
        }
    }

    /// The member's push is held up by nothing but its lane, so it goes as soon as that is open, and this attempt does
    /// not count.
    private mutating func pauseLane(_ outcome: Outcome, _ addressee: Addressee, atLeast least: Duration) {
        wantedPause = max(wantedPause ?? .zero, least)
        pauseCause = outcome
        retries.append(
            Retry(
                member: addressee.member, attempts: addressee.attempts - 1, dueAt: now, outcome: outcome.name,
                reason: outcome.reason))
    }

    private mutating func retry(_ outcome: Outcome, _ addressee: Addressee, least: Duration, chance: Double) {
        guard
            let due = policy.next(
                after: least, attempts: addressee.attempts, now: now, expiresAt: expiresAt, chance: chance)
        else {
            refuse(Outcome(.abandoned, reason: outcome.reason, .refuse), addressee)
            return
        }
        retries.append(
            Retry(
                member: addressee.member, attempts: addressee.attempts, dueAt: due, outcome: outcome.name,
                reason: outcome.reason))
    }

    private mutating func refuse(_ outcome: Outcome, _ addressee: Addressee) {
        counts[outcome.name, default: 0] += 1
        refusals.append(
            Refusal(
                member: addressee.member, handle: addressee.handle, outcome: outcome.name, reason: outcome.reason,
                at: now))
        settle(addressee.member)
    }

    /// Ends a retry with what the last attempt came to: its device is not in the audience any more.
    mutating func giveUp(_ retry: Retry) {
        refuse(
            Outcome(retry.outcome, reason: retry.reason, .refuse),
            Addressee(member: retry.member, handle: nil, attempts: retry.attempts))
    }

    // MARK: Parts of a page

    /// A tally of another part of the page.
    func emptied() -> PageTally {
        PageTally(platform: platform, policy: policy, now: now, expiresAt: expiresAt, areRetries: areRetries)
    }

    mutating func merge(_ other: PageTally) {
        counts.merge(other.counts, uniquingKeysWith: +)
        refusals += other.refusals
        spared.merge(other.spared) { $1 }
        retries += other.retries
        settled += other.settled
        feedback += other.feedback
        guardedFeedback += other.guardedFeedback
        wantedPause = [wantedPause, other.wantedPause].compactMap(\.self).max()
        pauseCause = other.pauseCause ?? pauseCause
        answered += other.answered
        unanswered += other.unanswered
        refusesAll = other.refusesAll ?? refusesAll
        successes += other.successes
        fatal += other.fatal
    }
}
