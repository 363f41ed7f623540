import MartletHTTP
import MartletModel

/// Tallies the outcomes of the pushes of one page, or of one round of retries, without I/O. The tally is then turned
/// into the step that is recorded (`DeliveryStep`).
struct PageTally {
    /// The outcomes of the pushes, in the form in which they are recorded.
    private(set) var outcomes = PageOutcomes()
    /// The report of the page to its lane.
    private(set) var lane = LaneReport()
    /// The feedback about handles that the answers contain.
    private(set) var handles = HandleFeedback()
    /// Pushes that were never sent, because sending was stopped before their first attempt. Stopped retries are not
    /// listed here: they stay unchanged in the retry table.
    private var held: [Retry] = []
    /// The newest unfinished delivery that supersedes this one for some members.
    private(set) var newer: Delivery.ID?
    /// The origins whose probe was in progress, so that retries wait for its end.
    private(set) var probedOrigins: Set<HTTPOrigin> = []
    /// The number of retries that wait for the end of a probe. They stay unchanged in the retry table.
    private(set) var waitingForProbes = 0

    private let platform: (any PushPlatform.Type)?
    private let policy: RetryPolicy
    private let now: Timestamp
    private let expiresAt: Timestamp
    /// Whether the pushes are a round of retries. A member with a final outcome must then leave the retry table.
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

    /// Counts members that were reached before a restart. These successes are recorded only as bits in the progress
    /// map.
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

    /// Adds a push that was not sent because its request could not be built.
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

    /// Counts a member as superseded, because it gets a newer notification instead. Ends the retry of the member, if it
    /// has one.
    /// - Parameter attempts: The number of earlier attempts for this member.
    mutating func supersede(_ member: AudienceMember, attempts: Int) {
        addUnsent(1, .superseded)
        guard areRetries else { return }
        record(.superseded, Addressee(member: member, attemptsBefore: attempts))
        settle(member)
    }

    /// Adds a dead letter for each of the given devices, to which nothing is sent.
    mutating func addUnreached(_ addressees: some Sequence<Addressee>, _ outcome: Outcome) {
        for addressee in addressees {
            outcomes.reasons[outcome.name] = outcome.reason
            refuse(outcome, addressee)
        }
    }

    /// Counts members that are not sent to. Unlike refusals, these members are not recorded one by one.
    mutating func addUnsent(_ count: Int, _ outcome: Outcome) {
        guard count > 0 else { return }
        outcomes.reasons[outcome.name] = outcome.reason
        outcomes.counts[outcome.name, default: 0] += count
    }

    /// Adds a push that was not sent because sending was stopped. The push is kept until `settleHeld` is called, and
    /// does not count as an attempt. Does nothing in a round of retries.
    mutating func hold(_ addressee: Addressee) {
        guard !areRetries else { return }
        held.append(
            Retry(
                member: addressee.member, attempts: addressee.attemptsBefore, dueAt: now, outcome: .held, reason: ""))
    }

    /// The number of pushes that were not sent because sending was stopped.
    var heldCount: Int { held.count }

    /// Settles the pushes that were not sent because sending was stopped. They become retries or, if the notification
    /// is canceled, are counted as canceled.
    mutating func settleHeld(isCanceled: Bool) {
        if isCanceled { addUnsent(held.count, .canceled) } else { outcomes.retries += held }
        held = []
    }

    /// The member that a push is for, and the result of the push.
    struct Addressee {
        var member: AudienceMember
        /// The registration with its current channel, if that channel is not the channel of the member; otherwise nil.
        var registration: AudienceMember?
        /// The handle to send to; nil if the device is gone.
        var handle: PushHandle?
        var attemptsBefore: Int
        /// The push service's answer; nil if nothing was sent.
        var answer: PushAnswer?
        /// When the answer was received, or when the request failed without an answer; nil if nothing was sent.
        var answeredAt: Timestamp?

        /// The number of attempts of the push. The current attempt is included if its request was sent.
        var attempts: Int { answeredAt == nil ? attemptsBefore : attemptsBefore + 1 }

        /// The channel to which the push goes. This is the current channel of the registration if the registration has
        /// moved, otherwise the channel of the member.
        var channel: ChannelID { registration?.channel ?? member.channel }
    }

    /// Adds the outcome of one push that was not a plain success (`PlainSuccess`).
    /// - Parameter chance: A random number from 0 up to 1. The argument is evaluated only if the push is tried again,
    ///   because a random number costs a system call.
    mutating func add(_ outcome: Outcome, to addressee: Addressee, chance: @autoclosure () -> Double) {
        if case .retry(_, .origin) = outcome.reaction {
            // A failure of an origin that devices have chosen is not counted as an answer. It does not show that the
            // push service fails.
        } else if outcome == .noTurn {
            // The request was never sent, so this result is neither an answer nor a sign that the push service fails.
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
                // The store is asked only if the push service states a time before its answer. Otherwise a handle that
                // is registered again before this page is recorded still counts as removed.
                let isEarlier = timestamp.map { $0 < addressee.answeredAt ?? now } ?? false
                refuse(outcome, addressee, .quarantined, goneSince: isEarlier ? timestamp : nil)
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

    /// Turns the push to a suspected stale device into a retry that is due after this page. Such a push is probably
    /// futile, and must not delay other pushes.
    mutating func setAside(_ addressee: Addressee) {
        postpone(addressee, until: now, Outcome(.unknownError, reason: "WasRefusedBefore", .refuse))
    }

    /// Postpones a push because its device or its origin is paused. The postponement does not count as an attempt. If
    /// the notification expires before the given time, the push is given up instead.
    mutating func putOff(_ addressee: Addressee, until timestamp: Timestamp, _ cause: Outcome) {
        guard timestamp < expiresAt else {
            return refuse(Outcome(.abandoned, reason: cause.reason, .refuse), addressee)
        }
        postpone(addressee, until: timestamp, cause)
    }

    /// Lets a push wait for the end of the probe of its origin. A retry stays as it is in the retry table; any other push
    /// becomes a retry that is due at once.
    mutating func awaitProbe(of origin: HTTPOrigin, _ addressee: Addressee, _ cause: Outcome) {
        guard areRetries else { return postpone(addressee, until: now, cause) }
        probedOrigins.insert(origin)
        waitingForProbes += 1
    }

    private mutating func postpone(_ addressee: Addressee, until timestamp: Timestamp, _ cause: Outcome) {
        outcomes.retries.append(
            Retry(
                member: addressee.member, attempts: addressee.attemptsBefore, dueAt: timestamp, outcome: cause.name,
                reason: cause.reason))
    }

    /// Asks for a pause of the lane, and turns the push into a retry that is due as soon as the lane is open. The
    /// failed attempt does not add to the number of attempts of the push.
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

    private mutating func refuse(
        _ outcome: Outcome, _ addressee: Addressee, _ fate: HandleFate = .kept, goneSince: Timestamp? = nil
    ) {
        outcomes.counts[outcome.name, default: 0] += 1
        var refusal = Refusal(
            member: addressee.member, registration: addressee.registration, handle: addressee.handle,
            outcome: outcome.name, reason: outcome.reason, at: addressee.answeredAt ?? now,
            attempts: addressee.attempts, answer: addressee.answer, fate: fate)
        refusal.goneSince = goneSince
        outcomes.refusals.append(refusal)
        settle(addressee.member)
    }

    /// Records an attempt whose outcome no refusal records: an attempt that is followed by a retry, an attempt after
    /// which the push is given up because the notification expires before the next one, or the last attempt of a push
    /// that is not refused.
    private mutating func record(_ outcome: Outcome, _ addressee: Addressee, _ fate: HandleFate = .kept) {
        outcomes.attempts.append(
            Attempt(
                member: addressee.member, number: addressee.attemptsBefore + 1, outcome: outcome.name,
                reason: outcome.reason,
                answer: addressee.answer, at: addressee.answeredAt ?? now, fate: fate,
                followed: outcome.isSuccess ? addressee.registration?.channel : nil))
    }

    /// Records that a member was reached, and ends its retry if it has one. No attempt is recorded for a success at the
    /// first attempt, because the bit in the progress map suffices. If the service has replaced the handle, the attempt
    /// is recorded in any case.
    mutating func succeed(_ addressee: Addressee, _ fate: HandleFate = .kept) {
        settle(addressee.member)
        if areRetries || fate == .moved { record(.accepted, addressee, fate) }
    }

    /// Records the fate of each handle that the push service has reported as gone: the handle is removed, in
    /// quarantine, or kept. A handle is kept if its channel is in neither of the two sets, because then the report is
    /// not believed.
    /// - Parameters:
    ///   - removed: The channels whose handles are removed.
    ///   - quarantined: The channels whose handles are in quarantine.
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

    /// Ends a retry because its device is no longer in the audience. The push is counted under the outcome of its last
    /// attempt, or as skipped if no attempt was made.
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
        probedOrigins.formUnion(other.probedOrigins)
        waitingForProbes += other.waitingForProbes
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
