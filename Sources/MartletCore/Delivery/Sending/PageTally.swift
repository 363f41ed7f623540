import MartletModel

/// Tallies the outcomes of the pushes of one page, or of one round of retries, without I/O. The step that is recorded
/// is created from the tally (`DeliveryStep`).
struct PageTally {
    /// The outcomes of the pushes, in the form in which they are recorded.
    private(set) var outcomes = PageOutcomes()
    /// What the pushes of the page show about their lane.
    private(set) var lane = LaneReport()
    /// The feedback about handles from the answers.
    private(set) var handles = HandleFeedback()
    /// Pushes that were never sent, because sending was stopped before their first attempt. Stopped retries are not
    /// listed here: they stay in the retry table as they are.
    private var held: [Retry] = []
    /// The newest unfinished delivery that supersedes this one for some members.
    private(set) var newer: Delivery.ID?

    private let platform: (any PushPlatform.Type)?
    private let policy: RetryPolicy
    private let now: Timestamp
    private let expiresAt: Timestamp
    /// Whether the page is a round of retries. A member with a final outcome must then leave the retry table.
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

    /// Counts members that were reached before a restart. The bits in the progress map are the only record of these
    /// successes.
    mutating func addReached(_ count: Int) {
        if count > 0 { outcomes.counts[.success, default: 0] += count }
    }

    /// Ends the retry of a member if the page is a round of retries.
    mutating func settle(_ member: AudienceMember) {
        if areRetries { outcomes.settled.append(member) }
    }

    mutating func addSkipped(_ count: Int) {
        if count > 0 { outcomes.counts[.skipped, default: 0] += count }
    }

    /// Adds a push that was not sent because its request cannot be built.
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

    /// Records the delivery that supersedes this one for some members.
    mutating func recordNewer(_ delivery: Delivery.ID?) {
        newer = [newer, delivery].compactMap(\.self).max()
    }

    /// Counts as superseded a member that gets a newer notification instead, and ends its retry.
    /// - Parameter attempts: The number of earlier attempts.
    mutating func supersede(_ member: AudienceMember, attempts: Int) {
        addUnsent(1, .superseded)
        guard areRetries else { return }
        record(.superseded, Addressee(member: member, attemptsBefore: attempts))
        settle(member)
    }

    /// Adds a dead letter for each of these devices. Nothing is sent to them.
    mutating func addUnreached(_ addressees: some Sequence<Addressee>, _ outcome: Outcome) {
        for addressee in addressees {
            outcomes.reasons[outcome.name] = outcome.reason
            refuse(outcome, addressee)
        }
    }

    /// Counts members that are not sent to. Unlike refusals, they are not recorded one by one.
    mutating func addUnsent(_ count: Int, _ outcome: Outcome) {
        guard count > 0 else { return }
        outcomes.reasons[outcome.name] = outcome.reason
        outcomes.counts[outcome.name, default: 0] += count
    }

    /// Adds a push that was not sent because sending was stopped. It is kept until `settleHeld` is called, and does not
    /// count as an attempt. Does nothing in a round of retries.
    mutating func hold(_ addressee: Addressee) {
        guard !areRetries else { return }
        held.append(
            Retry(
                member: addressee.member, attempts: addressee.attemptsBefore, dueAt: now, outcome: .held, reason: ""))
    }

    /// Turns the pushes that were not sent because sending was stopped into retries or, if the notification is
    /// canceled, counts them as canceled.
    mutating func settleHeld(isCanceled: Bool) {
        if isCanceled { addUnsent(held.count, .canceled) } else { outcomes.retries += held }
        held = []
    }

    /// The member that a push is for, and the result of the push.
    struct Addressee {
        var member: AudienceMember
        /// The registration with its current channel; nil if the push goes to the channel of the member.
        var registration: AudienceMember?
        /// The handle to send to; nil if the device is gone.
        var handle: PushHandle?
        var attemptsBefore: Int
        /// The push service's answer; nil if nothing was sent.
        var answer: PushAnswer?
        /// When the answer was received, or when the request failed without an answer; nil if nothing was sent.
        var answeredAt: Timestamp?

        /// The number of attempts of the push, including this one if a request was sent.
        var attempts: Int { answeredAt == nil ? attemptsBefore : attemptsBefore + 1 }

        /// The channel that the push goes to: the registration's current channel if it has moved, otherwise the
        /// member's own.
        var channel: ChannelID { registration?.channel ?? member.channel }
    }

    /// Adds the outcome of one push that was not a plain success (`PlainSuccess`).
    /// - Parameter chance: A random number from 0 up to 1. The argument is evaluated only if the push is tried again,
    ///   because a random number costs a system call.
    mutating func add(_ outcome: Outcome, to addressee: Addressee, chance: @autoclosure () -> Double) {
        if case .retry(_, .origin) = outcome.reaction {
            // A failure of an origin that devices have chosen is not counted as an answer, and does not show that the
            // push service fails.
        } else if outcome == .noTurn {
            // The request was never sent, so this is neither an answer nor a sign that the push service fails.
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
            // A handle of a direct send has no channel, so no registration can be reported as gone.
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

    /// Records that a suspected stale device was reached.
    mutating func trust(_ channel: ChannelID) {
        handles.trusted.insert(channel)
    }

    /// Makes the push to a suspected stale device a retry that is due after this page, because the push may be futile
    /// and must not delay other pushes.
    mutating func setAside(_ addressee: Addressee) {
        postpone(addressee, until: now, Outcome(.unknownError, reason: "WasRefusedBefore", .refuse))
    }

    /// Postpones a push because its device or its origin is paused. The postponement does not count as an attempt. If
    /// the notification expires before that time, the push is given up instead.
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

    /// Asks for a pause of the lane, and makes the push a retry that is due as soon as the lane is open. The failed
    /// attempt does not add to the number of attempts of the push.
    private mutating func pauseLane(_ outcome: Outcome, _ addressee: Addressee, atLeast least: Duration) {
        lane.wantedPause = max(lane.wantedPause ?? .zero, least)
        lane.pauseCause = outcome
        // If no request was sent, no attempt is recorded.
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

    /// Records an attempt that has no refusal of its own: an attempt that is followed by a retry, an attempt whose
    /// retry is given up because the notification expires first, or the last attempt of a retry.
    private mutating func record(_ outcome: Outcome, _ addressee: Addressee, _ fate: HandleFate = .kept) {
        outcomes.attempts.append(
            Attempt(
                member: addressee.member, number: addressee.attemptsBefore + 1, outcome: outcome.name,
                reason: outcome.reason,
                answer: addressee.answer, at: addressee.answeredAt ?? now, fate: fate,
                followed: outcome.isSuccess ? addressee.registration?.channel : nil))
    }

    /// Records that a member was reached, and ends its retry if it has one. For a success at the first attempt no
    /// attempt is recorded, because the bit in the progress map suffices, unless the service replaced the handle.
    mutating func succeed(_ addressee: Addressee, _ fate: HandleFate = .kept) {
        settle(addressee.member)
        if areRetries || fate == .moved { record(.accepted, addressee, fate) }
    }

    /// Records whether the handles that the push service has reported as gone are removed, in quarantine or kept. The
    /// handles of the given channels are removed or in quarantine. All others are kept, because the report is not
    /// believed.
    mutating func decideFates(removing removed: Set<ChannelID>, quarantining quarantined: Set<ChannelID>) {
        for index in outcomes.refusals.indices where outcomes.refusals[index].fate == .quarantined {
            let channel = outcomes.refusals[index].channel
            if removed.contains(channel) {
                outcomes.refusals[index].fate = .removed
            } else if !quarantined.contains(channel) {
                outcomes.refusals[index].fate = .kept
            }
        }
    }

    /// Makes each retry of the page due at once if its last attempt had the given outcome.
    mutating func expediteRetries(after outcome: OutcomeName) {
        for index in outcomes.retries.indices where outcomes.retries[index].outcome == outcome {
            outcomes.retries[index].dueAt = min(outcomes.retries[index].dueAt, now)
        }
    }

    /// Records that an origin has asked for a pause.
    mutating func addHold(_ hold: LanePause) { lane.holds.append(hold) }

    /// Records the origin that a batch goes to.
    mutating func addOrigin(_ origin: String) {
        if outcomes.origins.count < RangeRecord.originLimit { outcomes.origins.insert(origin) }
    }

    /// Ends a retry whose device is not in the audience any more. The push is counted under the outcome of its last
    /// attempt, or as skipped if it was never tried.
    mutating func giveUp(_ retry: Retry) {
        let wasTried = retry.outcome != .held
        refuse(
            Outcome(wasTried ? retry.outcome : .skipped, reason: retry.reason, .refuse),
            Addressee(member: retry.member, handle: nil, attemptsBefore: retry.attempts))
    }

    /// Postpones a retry because the current handle of its registration may be reached first as the handle of another
    /// member.
    mutating func wait(_ retry: Retry, until timestamp: Timestamp) {
        var later = retry
        later.dueAt = timestamp
        outcomes.retries.append(later)
    }

    /// Ends a retry because the current handle of its registration was reached as the handle of another member.
    mutating func skip(_ retry: Retry) {
        addSkipped(1)
        record(.sentToAsAnother, Addressee(member: retry.member, attemptsBefore: retry.attempts))
        settle(retry.member)
    }

    // MARK: Parts of a page

    /// Returns an empty tally with the same settings, for some of the pushes of the page.
    func emptied() -> PageTally {
        PageTally(platform: platform, policy: policy, now: now, expiresAt: expiresAt, areRetries: areRetries)
    }

    /// Adds the tally of some of the pushes of the page.
    /// - Parameter application: The application that these pushes have in common (`PushService.application`).
    mutating func merge(_ other: PageTally, of application: String = "") {
        outcomes.merge(other.outcomes)
        lane.merge(other.lane, of: application)
        handles.merge(other.handles)
        held += other.held
    }
}

extension Outcome {
    /// The outcome of a push to a device that gets a newer notification instead.
    static let superseded = Outcome(
        .superseded, reason: "A newer notification with the same collapse key takes its place.", .refuse)

    /// The outcome of a retry that ends because the current handle of its registration was reached as the handle of
    /// another member.
    fileprivate static let sentToAsAnother = Outcome(
        .skipped, reason: "Its registration has another handle by now, which the notification is sent to anyway.",
        .refuse)
}
