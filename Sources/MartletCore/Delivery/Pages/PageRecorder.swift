import MartletModel

/// Records the outcomes of pages, of rounds of retries and of whole deliveries. Acts on these outcomes: reports to the
/// lane, removes devices that are gone, and halts roll-outs.
struct PageRecorder: Sendable {
    let reader: PageReader
    let sharedProgress: SharedProgress
    let resolver: LaneResolver
    let lanes: LaneCircuitBreakers
    let rollouts: RolloutPacer
    let sender: PageSender
    let retry: RetryPolicy
    let time: any TimeSource
    let metrics: DeliveryMetrics
    /// Receives messages for the operator, without secrets.
    let log: @Sendable (String) -> Void

    /// Records the outcomes of a page or a round of retries. First reports to the lane, then records the step, then
    /// updates handles, and halts the roll-out if too many pushes fail.
    /// - Parameters:
    ///   - collectsFeedback: True if the caller calls `applyFeedback` later, so that the handles of several pages are
    ///     updated together.
    ///   - makeStep: Returns the step and the new progress of the delivery. This closure gets the tally after the
    ///     decision which of the handles that were reported as gone are removed.
    func record(
        _ tally: PageTally, _ lane: SendContext, of run: inout DeliveryRun, collectsFeedback: Bool = false,
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
        run.feedback += sender.feedback(of: tally, gone: conclusion.gone, lane)
        if !collectsFeedback || run.feedback.count >= Self.feedbackLimit { try await applyFeedback(of: &run) }
        try await rollouts.haltIfNeeded(delivery, step.counts)
        try await rollouts.evaluateIfDue(delivery)
    }

    /// Records a step and then counts its outcomes in the metrics. If the store fails, nothing is counted; a later turn
    /// does the step again. If the delivery no longer exists in the store, nothing is recorded, but the outcomes are
    /// counted. The delivery is then marked as gone, so that it ends after this turn.
    func record(_ step: DeliveryStep, of run: inout DeliveryRun) async throws(StorageError) {
        var step = step
        let endsSample = run.delivery.part?.side == .sample && (step.isFannedOut || step.state.isFinal)
        if endsSample { step.sampleEndsAt = time.now }
        if try await reader.notifications.record(step) { run.hasProgressed = true } else { run.isGone = true }
        if endsSample { rollouts.sampleWasSent() }
        metrics.addOutcomes(step.counts, on: run.delivery.platform)
    }

    func makeTally(_ delivery: Delivery, areRetries: Bool) -> PageTally {
        PageTally(
            platform: resolver.platforms[delivery.platform], policy: retry, now: time.now,
            expiresAt: delivery.expiresAt, areRetries: areRetries)
    }

    /// Reports the results of a page to its lane, and decides which of the handles that were reported as gone are
    /// removed.
    private func conclude(_ tally: inout PageTally, _ lane: SendContext, _ delivery: Delivery) -> LaneConclusion {
        // A page that was sent with an old credential changes nothing in the lane, because it says nothing about the
        // new credential.
        let isCurrent = resolver.isCurrent(lane)
        let record = lanes.record(tally.lane, lane, isCurrent: isCurrent, at: time.now)
        if !isCurrent { tally.expediteRetries(after: .invalidCredentials) }
        raiseAlarms(record, tally, delivery)
        // A refusal of one message says nothing about the messages of other templates or languages. Therefore it ends
        // all sending of the delivery only if the delivery has no other message.
        if let outcome = tally.lane.refusesAll, !lane.sendsAnything || !delivery.hasSeveralMessages {
            lanes.refuse(delivery.id, outcome)
        }
        tally.decideFates(removing: Set(record.gone.map(\.channel)), quarantining: Set(record.quarantined))
        return LaneConclusion(
            pauses: tally.lane.holds + [record.pause].compactMap(\.self), quarantines: record.quarantines,
            gone: record.gone)
    }

    /// Applies the feedback about handles to the stored registrations. Called after the steps are recorded, because a
    /// refusal in a step refers to a registration that the feedback may remove. If the process is killed in between,
    /// the feedback is lost, and the next notification gets the same feedback again.
    ///
    /// The feedback of pages that are sent at the same time is applied in one transaction. Keys and ids of
    /// registrations are spread over the whole database file, so fewer transactions write fewer pages of that file.
    func applyFeedback(of run: inout DeliveryRun) async throws(StorageError) {
        guard !run.feedback.isEmpty else { return }
        let feedback = run.feedback
        run.feedback = []
        _ = try await reader.devices.apply(feedback, in: run.delivery.notification.hub, at: time.now)
    }

    /// The number of waiting changes of handles at which they are applied before the turn ends. A larger transaction
    /// would delay other writes for too long.
    private static let feedbackLimit = 2000

    /// Logs, for the operator, a pause that a page has caused in its lane, and the quarantines that the page has begun
    /// or ended.
    private func raiseAlarms(_ record: LaneChange, _ tally: PageTally, _ delivery: Delivery) {
        let name = resolver.hubs.hub(delivery.notification.hub)?.name ?? ""
        if record.beginsPause, let cause = tally.lane.pauseCause {
            log(
                "Sending from hub '\(name)' to \(delivery.platform) is paused: \(cause.name.rawValue), "
                    + "\(cause.reason). Accepted notifications are kept and tried again.")
        }
        for (application, isQuarantined) in record.quarantines.sorted(by: { $0.key < $1.key }) {
            let part = application.isEmpty ? "" : " (\(application))"
            log(
                isQuarantined
                    ? "Most devices of hub '\(name)' look gone to \(delivery.platform)\(part), which a wrong credential, "
                        + "topic or environment can cause too: none is removed until sends succeed again."
                    : "Sends from hub '\(name)' to \(delivery.platform)\(part) succeed again: devices that are gone are "
                        + "removed from now on.")
        }
    }

    /// Records that the delivery has ended, and removes the data that was needed only until now.
    /// - Parameter state: The final state; nil to determine it from the outcomes.
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

    /// Returns how the turn ends after a round of retries or the last page. The delivery has more to send now, waits
    /// for its next retry, or ends if no retry is left.
    func untilNextRetry(_ run: inout DeliveryRun) async throws(StorageError) -> DeliveryRun.Ending {
        guard run.progress.isFannedOut else { return .yielded }
        let delivery = run.delivery
        guard let due = try await reader.notifications.nextRetry(of: delivery.id) else {
            return try await finish(&run, nil)
        }
        return due <= time.now ? .yielded : .waiting(until: min(due, delivery.expiresAt))
    }

    /// Removes the progress map of a delivery that has ended, and its data in memory. If the progress map cannot be
    /// removed now, the cleanup at the next start removes it.
    func forget(_ delivery: Delivery.ID) {
        lanes.forget(delivery)
        sender.origins.forget(delivery)
        sharedProgress.forget(delivery)
        try? reader.maps.remove(delivery)
    }

    /// Removes the progress map of a delivery that has ended, its data in memory, and the meter of its notification. If
    /// the notification has ended, also removes the notification's control from memory.
    /// - Parameter notification: The sequence number of the notification; nil if it is not known.
    func forget(_ delivery: Delivery.ID, of notification: Int64?) async {
        forget(delivery)
        guard let notification else { return }
        rollouts.board.stopMeter(of: notification)
        await rollouts.controls.forgetIfEnded(notification)
    }
}

/// The changes that a page makes outside its delivery: to the state of its lane, and to the devices of its hub.
private struct LaneConclusion {
    var pauses: [LanePause]
    var quarantines: [String: Bool]
    /// The devices that the push service reported as gone and that are to be removed. Does not contain devices whose
    /// report is not believed (`DeletionGuard`).
    var gone: [ChannelFeedback]
}

extension DeliveryStep {
    /// Creates a step with the outcomes of a page or a round of retries.
    init(_ delivery: Delivery.ID, _ tally: PageTally, cursor: AudienceMember?, isFannedOut: Bool) {
        self.init(
            delivery: delivery, cursor: cursor, isFannedOut: isFannedOut, state: .processing,
            counts: tally.outcomes.counts,
            refusals: tally.outcomes.refusals, retries: tally.outcomes.retries, settled: tally.outcomes.settled,
            attempts: tally.outcomes.attempts)
    }

    /// Creates a step with the outcomes of a page, and updates the progress of the delivery.
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
