import MartletModel

/// What the pushes of one page have come to: pure bookkeeping from outcomes to the step that is recorded.
struct PageTally {
    /// What is recorded of the pushes.
    private(set) var outcomes = PageOutcomes()
    /// What the lane is told.
    private(set) var lane = LaneReport()
    /// What was said of handles.
    private(set) var handles = HandleFeedback()
    /// First attempts that were not made because everything stopped. Retries just stay what they are.
    private var held: [Retry] = []
    /// The newest delivery that members get instead, where it is not over.
    private(set) var newer: Delivery.ID?

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

    mutating func add(_ verdict: FailureAttribution.Verdict) {
        if verdict == .service { lane.isServiceFailing = true }
    }

    mutating func leaveProbe() {
        lane.leavesProbe = true
    }

    mutating func addSuccesses(_ count: Int) {
        lane.answered += count
        lane.health.successes += count
        outcomes.counts[.success, default: 0] += count
    }

    /// Counts members that an earlier attempt reached, of which nothing but the bit was left.
    mutating func addReached(_ count: Int) {
        if count > 0 { outcomes.counts[.success, default: 0] += count }
    }

    /// Ends the retry of a member, where it has one.
    mutating func settle(_ member: AudienceMember) {
        if areRetries { outcomes.settled.append(member) }
    }

    mutating func addSkipped(_ count: Int) {
        if count > 0 { outcomes.counts[.skipped, default: 0] += count }
    }

    /// Adds a push that was not made because there is nothing that could be sent.
    mutating func addUnsent(_ outcome: Outcome, to addressee: Addressee) {
        guard outcome.reaction != .stop else { return pauseLane(outcome, addressee, atLeast: .seconds(30)) }
        guard outcome.name != .skipped else { return suppress(outcome, addressee.member) }
        refuse(outcome, addressee)
    }

    private mutating func suppress(_ outcome: Outcome, _ member: AudienceMember) {
        addSkipped(1)
        outcomes.suppressed[member] = outcome
        outcomes.reasons[outcome.name] = outcome.reason
        settle(member)
    }

    /// Records which delivery members get instead.
    mutating func recordNewer(_ delivery: Delivery.ID?) {
        newer = [newer, delivery].compactMap(\.self).max()
    }

    /// Counts a member that gets a newer message instead, and ends its retry.
    /// - Parameter attempts: Those made before.
    mutating func supersede(_ member: AudienceMember, attempts: Int) {
        addUnsent(1, .superseded)
        guard areRetries else { return }
        record(.superseded, Addressee(member: member, attemptsBefore: attempts))
        settle(member)
    }

    /// Adds devices to none of which anything is sent, each with its dead letter.
    mutating func addUnreached(_ addressees: some Sequence<Addressee>, _ outcome: Outcome) {
        for addressee in addressees {
            outcomes.reasons[outcome.name] = outcome.reason
            refuse(outcome, addressee)
        }
    }

    /// Counts devices that are not sent a message, and of which nothing else is kept.
    mutating func addUnsent(_ count: Int, _ outcome: Outcome) {
        guard count > 0 else { return }
        outcomes.reasons[outcome.name] = outcome.reason
        outcomes.counts[outcome.name, default: 0] += count
    }

    /// Adds a push that was not made because everything stops: this is no attempt.
    mutating func hold(_ addressee: Addressee) {
        guard !areRetries else { return }
        held.append(
            Retry(
                member: addressee.member, attempts: addressee.attemptsBefore, dueAt: now, outcome: .held, reason: ""))
    }

    /// Has those who were held back wait until it goes on, or, where it does not, be spared.
    mutating func settleHeld(isCanceled: Bool) {
        if isCanceled { addUnsent(held.count, .canceled) } else { outcomes.retries += held }
        held = []
    }

    /// Whom a push went to.
    struct Addressee {
        var member: AudienceMember
        /// Its registration with the current channel, where that is not the member's.
        var registration: AudienceMember?
        /// nil where the device is gone.
        var handle: PushHandle?
        var attemptsBefore: Int
        /// nil where nothing was sent.
        var answer: PushAnswer?
        /// When it was answered, or known that it would not be; nil where nothing was sent.
        var answeredAt: Timestamp?

        /// Attempts made, with what was sent now.
        var attempts: Int { answeredAt == nil ? attemptsBefore : attemptsBefore + 1 }

        /// The channel that is sent to.
        var channel: ChannelID { registration?.channel ?? member.channel }
    }

    /// Adds the outcome of one push that is more than a plain success.
    /// - Parameter chance: Drawn, which asks the system, only where something is tried again.
    mutating func add(_ outcome: Outcome, to addressee: Addressee, chance: @autoclosure () -> Double) {
        if case .retry(_, .origin) = outcome.reaction {
            // Neither an answer of the service nor its silence.
        } else if outcome == .noTurn {
            // No silence of the service either.
        } else if outcome.name == .pnsUnreachable {
            lane.pauseCause = outcome
        } else {
            lane.answered += 1
        }
        switch outcome.reaction {
        case .accepted:
            if !outcome.reason.isEmpty { outcomes.successReasons[addressee.member] = outcome.reason }
            addSuccesses(1)
            succeed(addressee)
        case .drop(let timestamp, let guarded):
            lane.health.fatal += 1
            // A direct send says nothing of a channel.
            if addressee.channel != .none {
                let gone = ChannelFeedback(channel: addressee.channel, kind: .gone(asOf: timestamp))
                if guarded { lane.health.doubtful.append(gone) } else { lane.health.dead.append(gone) }
                refuse(outcome, addressee, .quarantined)
            } else {
                refuse(outcome, addressee)
            }
        case .update(let new):
            addSuccesses(1)
            let isOld = new == addressee.handle
            let key = isOld || addressee.channel == .none ? nil : try? platform?.key(of: new)
            succeed(addressee, key == nil ? .kept : .moved)
            if let key {
                handles.replaced.append(ChannelFeedback(channel: addressee.channel, kind: .moved(new, key: key)))
            }
        case .refuse:
            refuse(outcome, addressee)
        case .refuseAll:
            lane.refusesAll = outcome
            refuse(outcome, addressee)
        case .retry(let least, let scope):
            if scope == .device { recordThrottling(addressee) }
            guard scope == .platform else { return retry(outcome, addressee, least: least, chance: chance()) }
            pauseLane(outcome, addressee, atLeast: least)
        case .retryElsewhere:
            retry(outcome, addressee, least: .seconds(1), chance: chance())
        case .reauthorize, .stop:
            pauseLane(outcome, addressee, atLeast: .seconds(30))
        }
    }

    private mutating func recordThrottling(_ addressee: Addressee) {
        guard let status = addressee.answer?.status, (400..<500).contains(status) else { return }
        if addressee.channel != .none { handles.throttled.append(addressee.channel) }
    }

    /// A suspect was reached.
    mutating func trust(_ channel: ChannelID) {
        handles.trusted.insert(channel)
    }

    /// The member's push goes when the page is done with: it may be in vain, and is not to hold others up.
    mutating func setAside(_ addressee: Addressee) {
        postpone(addressee, until: now, Outcome(.unknownError, reason: "WasRefusedBefore", .refuse))
    }

    /// The member's push waits for where it goes to, and this does not count as an attempt.
    mutating func putOff(_ addressee: Addressee, until timestamp: Timestamp, _ cause: Outcome) {
        guard timestamp < expiresAt else {
            return refuse(Outcome(.abandoned, reason: cause.reason, .refuse), addressee)
        }
        postpone(addressee, until: timestamp, cause)
    }

    private mutating func postpone(_ addressee: Addressee, until timestamp: Timestamp, _ cause: Outcome) {
        outcomes.retries.append(
            Retry(
                member: addressee.member, attempts: addressee.attemptsBefore, dueAt: timestamp, outcome: cause.name,
                reason: cause.reason))
    }

    /// The member's push is held up by nothing but its lane, so it goes as soon as that is open, and this attempt does
    /// not count.
    private mutating func pauseLane(_ outcome: Outcome, _ addressee: Addressee, atLeast least: Duration) {
        lane.wantedPause = max(lane.wantedPause ?? .zero, least)
        lane.pauseCause = outcome
        // Where there was nothing to send with, nothing was attempted.
        if addressee.answeredAt != nil { record(outcome, addressee) }
        outcomes.retries.append(
            Retry(
                member: addressee.member, attempts: addressee.attemptsBefore, dueAt: now, outcome: outcome.name,
                reason: outcome.reason))
    }

    private mutating func retry(_ outcome: Outcome, _ addressee: Addressee, least: Duration, chance: Double) {
        record(outcome, addressee)
        guard
            let due = policy.next(
                after: least, attempts: addressee.attemptsBefore + 1, now: addressee.answeredAt ?? now,
                expiresAt: expiresAt,
                chance: chance)
        else {
            refuse(Outcome(.abandoned, reason: outcome.reason, .refuse), addressee)
            return
        }
        outcomes.retries.append(
            Retry(
                member: addressee.member, attempts: addressee.attemptsBefore + 1, dueAt: due, outcome: outcome.name,
                reason: outcome.reason))
    }

    private mutating func refuse(_ outcome: Outcome, _ addressee: Addressee, _ fate: HandleFate = .kept) {
        outcomes.counts[outcome.name, default: 0] += 1
        outcomes.refusals.append(
            Refusal(
                member: addressee.member, registration: addressee.registration, handle: addressee.handle,
                outcome: outcome.name, reason: outcome.reason, at: addressee.answeredAt ?? now,
                attempts: addressee.attempts, answer: addressee.answer, fate: fate))
        settle(addressee.member)
    }

    /// Keeps an attempt that another one follows, or would follow if there were time.
    private mutating func record(_ outcome: Outcome, _ addressee: Addressee, _ fate: HandleFate = .kept) {
        outcomes.attempts.append(
            Attempt(
                member: addressee.member, number: addressee.attemptsBefore + 1, outcome: outcome.name,
                reason: outcome.reason,
                answer: addressee.answer, at: addressee.answeredAt ?? now, fate: fate))
    }

    /// Ends the retry of a member that was reached. A success at the first attempt leaves nothing but its bit.
    mutating func succeed(_ addressee: Addressee, _ fate: HandleFate = .kept) {
        settle(addressee.member)
        if areRetries || fate == .moved { record(.accepted, addressee, fate) }
    }

    /// Who was called dead is removed where that is believed.
    mutating func decideFates(removing channels: Set<ChannelID>) {
        guard !channels.isEmpty else { return }
        for index in outcomes.refusals.indices
        where outcomes.refusals[index].fate == .quarantined && channels.contains(outcomes.refusals[index].channel) {
            outcomes.refusals[index].fate = .removed
        }
    }

    /// Records that an origin has asked for a wait.
    mutating func addHold(_ hold: LanePause) { lane.holds.append(hold) }

    /// Records where a batch goes to.
    mutating func addOrigin(_ origin: String) {
        if outcomes.origins.count < RangeRecord.originLimit { outcomes.origins.insert(origin) }
    }

    /// Ends a retry with what the last attempt came to: its device is not in the audience any more.
    mutating func giveUp(_ retry: Retry) {
        let wasTried = retry.outcome != .held
        refuse(
            Outcome(wasTried ? retry.outcome : .skipped, reason: retry.reason, .refuse),
            Addressee(member: retry.member, handle: nil, attemptsBefore: retry.attempts))
    }

    /// Ends a retry: its registration has a handle by now that is sent to as another member.
    mutating func skip(_ retry: Retry) {
        addSkipped(1)
        record(.sentToAsAnother, Addressee(member: retry.member, attemptsBefore: retry.attempts))
        settle(retry.member)
    }

    // MARK: Parts of a page

    /// A tally of another part of the page.
    func emptied() -> PageTally {
        PageTally(platform: platform, policy: policy, now: now, expiresAt: expiresAt, areRetries: areRetries)
    }

    /// - Parameter application: What its pushes had in common that a wrong configuration would be of.
    mutating func merge(_ other: PageTally, of application: String = "") {
        outcomes.merge(other.outcomes)
        lane.merge(other.lane, of: application)
        handles.merge(other.handles)
        held += other.held
    }
}

extension Outcome {
    /// What a device comes to that gets a newer notification instead.
    static let superseded = Outcome(
        .superseded, reason: "A newer notification with the same collapse key takes its place.", .refuse)

    /// What a retry comes to whose registration has the handle of another member by now.
    fileprivate static let sentToAsAnother = Outcome(
        .skipped, reason: "Its registration has another handle by now, which the notification is sent to anyway.",
        .refuse)
}
