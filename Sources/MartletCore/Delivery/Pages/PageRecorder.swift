import MartletModel

/// Records what pages, rounds of retries and ends of deliveries have come to, and acts on it: tells the lane, removes
/// devices that are gone, halts roll-outs.
struct PageRecorder: Sendable {
    let reader: PageReader
    let resolver: LaneResolver
    let lanes: LaneCircuitBreakers
    let rollouts: RolloutPacer
    let sender: PageSender
    let retry: RetryPolicy
    let time: any TimeSource
    let metrics: DeliveryMetrics
    /// Told what an operator should know, in a sentence without secrets.
    let log: @Sendable (String) -> Void

    /// Records what a page, or a round of retries, has come to: tells the lane, records the step, then acts on what was
    /// said of handles and on too many failures.
    /// - Parameter makeStep: The step, and where it leaves the delivery, made of the tally with the fates of its devices.
    func record(
        _ tally: PageTally, _ lane: SendContext, of run: inout DeliveryRun,
        _ makeStep: (PageTally) throws(StorageError) -> (step: DeliveryStep, progress: DeliveryProgress)
    ) async throws(StorageError) {
        let delivery = run.delivery
        var tally = tally
        let conclusion = conclude(&tally, lane, delivery)
        var (step, progress) = try makeStep(tally)
        step.pauses = conclusion.pauses
        step.quarantines = conclusion.quarantines
        try await record(step, of: &run)
        run.progress = progress
        try await apply(tally, conclusion, delivery, lane)
        try await rollouts.haltIfNeeded(delivery, step.counts)
    }

    /// Counts what a step has come to once it is recorded: what was not will be done, and counted, again. Where the
    /// delivery is gone from the store, the turn is its last.
    func record(_ step: DeliveryStep, of run: inout DeliveryRun) async throws(StorageError) {
        if try await reader.notifications.record(step) { run.hasProgressed = true } else { run.isGone = true }
        metrics.addOutcomes(step.counts, on: run.delivery.platform)
    }

    func makeTally(_ delivery: Delivery, areRetries: Bool) -> PageTally {
        PageTally(
            platform: resolver.platforms[delivery.platform], policy: retry, now: time.now,
            expiresAt: delivery.notification.expiresAt, areRetries: areRetries)
    }

    /// Tells the lane how the page went.
    private func conclude(_ tally: inout PageTally, _ lane: SendContext, _ delivery: Delivery) -> LaneConclusion {
        // What an old credential has come to says nothing of the new one.
        let record = lanes.record(tally.lane, lane, isCurrent: resolver.isCurrent(lane), at: time.now)
        raiseAlarms(record, tally, delivery)
        // Of templates another one may do.
        if let outcome = tally.lane.refusesAll, !lane.sendsAnything || !delivery.isOfTemplates {
            lanes.refuse(delivery.id, outcome)
        }
        tally.decideFates(removing: Set(record.gone.map(\.channel)))
        return LaneConclusion(
            pauses: tally.lane.holds + [record.pause].compactMap(\.self), quarantines: record.quarantines,
            gone: record.gone)
    }

    /// Acts on what was said of handles, once the step is recorded: a refusal names the registration that it may remove.
    /// Where a kill comes between the two, the next notification finds the handle dead again.
    private func apply(
        _ tally: PageTally, _ conclusion: LaneConclusion, _ delivery: Delivery, _ lane: SendContext
    ) async throws(StorageError) {
        let feedback = sender.feedback(of: tally, gone: conclusion.gone, lane)
        guard !feedback.isEmpty else { return }
        _ = try await reader.devices.apply(feedback, in: delivery.notification.hub, at: time.now)
    }

    /// Tells the operator, once, what needs a look and does not mend itself.
    private func raiseAlarms(_ record: LaneChange, _ tally: PageTally, _ delivery: Delivery) {
        let name = resolver.hubs.hub(delivery.notification.hub)?.name ?? ""
        if record.beginsPause, let cause = tally.lane.pauseCause {
            log(
                "Sending from hub '\(name)' to \(delivery.platform) is paused: \(cause.name.rawValue), "
                    + "\(cause.reason). What was accepted is kept and tried again.")
        }
        for (application, isQuarantined) in record.quarantines.sorted(by: { $0.key < $1.key }) {
            let part = application.isEmpty ? "" : " (\(application))"
            log(
                isQuarantined
                    ? "Most devices of hub '\(name)' look gone to \(delivery.platform)\(part), which a wrong credential, "
                        + "topic or environment explains as well: none is removed until sends succeed again."
                    : "Sends from hub '\(name)' to \(delivery.platform)\(part) succeed again: devices that are gone are "
                        + "removed from now on.")
        }
    }

    /// Ends the delivery.
    /// - Parameter state: nil where what it has come to tells.
    func finish(
        _ run: inout DeliveryRun, _ state: NotificationState?
    ) async throws(StorageError) -> DeliveryRun.Ending {
        let delivery = run.delivery
        let final: NotificationState
        if let state {
            final = state
        } else {
            let notification = delivery.notification
            let report = try await reader.notifications.report(notification.id, in: notification.hub)
            final = report?.counts[delivery.platform]?.isEmpty ?? true ? .noTargetFound : .completed
        }
        let step = DeliveryStep(
            delivery: delivery.id, isFannedOut: run.progress.isFannedOut, state: final, endedAt: time.now,
            reached: final == .noTargetFound ? [] : try reader.reached(of: delivery))
        try await record(step, of: &run)
        await forget(delivery.id, of: delivery.notification.sequence)
        return .finished
    }

    /// What is next when a round of retries, or the last page, is done with.
    func untilNextRetry(_ run: inout DeliveryRun) async throws(StorageError) -> DeliveryRun.Ending {
        guard run.progress.isFannedOut else { return .yielded }
        let delivery = run.delivery
        guard let due = try await reader.notifications.nextRetry(of: delivery.id) else {
            return try await finish(&run, nil)
        }
        return due <= time.now ? .yielded : .waiting(until: min(due, delivery.notification.expiresAt))
    }

    /// Drops what is only of use while the delivery goes on. A map that cannot be removed now is removed by the sweep of
    /// the next start.
    func forget(_ delivery: Delivery.ID) {
        lanes.forget(delivery)
        try? reader.maps.remove(delivery)
    }

    /// The same of a notification whose last delivery this may be.
    /// - Parameter notification: Its sequence number; nil where it is not known.
    func forget(_ delivery: Delivery.ID, of notification: Int64?) async {
        forget(delivery)
        guard let notification else { return }
        rollouts.board.stopMeter(of: notification)
        await rollouts.controls.forgetIfEnded(notification)
    }
}

/// What follows from a page for its lane and for handles.
private struct LaneConclusion {
    var pauses: [LanePause]
    var quarantines: [String: Bool]
    /// Who is believed to be gone.
    var gone: [ChannelFeedback]
}

extension DeliveryStep {
    /// What a page, or a round of retries, has come to.
    init(_ delivery: Delivery.ID, _ tally: PageTally, cursor: AudienceMember?, isFannedOut: Bool) {
        self.init(
            delivery: delivery, cursor: cursor, isFannedOut: isFannedOut, state: .processing,
            counts: tally.outcomes.counts,
            refusals: tally.outcomes.refusals, retries: tally.outcomes.retries, settled: tally.outcomes.settled,
            attempts: tally.outcomes.attempts)
    }

    /// What a page has come to, and where it leaves the delivery.
    init(
        _ progress: inout DeliveryProgress, _ page: AudiencePage, through last: AudienceMember, _ tally: PageTally,
        startedAt: Timestamp, endedAt: Timestamp
    ) {
        let isFirst = progress.state == .enqueued
        progress.state = .processing
        progress.cursor = last
        progress.isFannedOut = page.isLast
        self.init(progress.delivery.id, tally, cursor: progress.cursor, isFannedOut: page.isLast)
        self.startedAt = isFirst ? startedAt : nil
        range = RangeRecord(page, through: last, tally, startedAt: startedAt, endedAt: endedAt)
    }
}
