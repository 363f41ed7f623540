import MartletModel

/// Records the outcomes of pages, of rounds of retries and of whole deliveries, and acts on them: reports to the lane,
/// removes devices that are gone, and halts roll-outs.
struct PageRecorder: Sendable {
    let reader: PageReader
    let resolver: LaneResolver
    let lanes: LaneCircuitBreakers
    let rollouts: RolloutPacer
    let sender: PageSender
    let retry: RetryPolicy
    let time: any TimeSource
    let metrics: DeliveryMetrics
    /// Receives messages for the operator, without secrets.
    let log: @Sendable (String) -> Void

    /// Records the outcomes of a page or a round of retries. Reports to the lane, records the step, then updates
    /// handles and halts the roll-out if too many pushes fail.
    /// - Parameters:
    ///   - collectsFeedback: Whether the caller calls `applyFeedback` later, so that the handles of several pages are
    ///     updated together.
    ///   - makeStep: Makes the step and the new progress of the delivery from the tally with the final fates of handles.
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

    /// Records a step and then counts its outcomes in the metrics. This order is needed because a step that is not
    /// recorded is done and counted again. If the delivery no longer exists in the store, this turn is its last.
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

    /// Reports the page to the lane.
    private func conclude(_ tally: inout PageTally, _ lane: SendContext, _ delivery: Delivery) -> LaneConclusion {
        // Outcomes with an old credential say nothing about the new one.
        let record = lanes.record(tally.lane, lane, isCurrent: resolver.isCurrent(lane), at: time.now)
        raiseAlarms(record, tally, delivery)
        // A refused message of one template or language says nothing about others.
        if let outcome = tally.lane.refusesAll, !lane.sendsAnything || !delivery.hasSeveralMessages {
            lanes.refuse(delivery.id, outcome)
        }
        tally.decideFates(removing: Set(record.gone.map(\.channel)))
        return LaneConclusion(
            pauses: tally.lane.holds + [record.pause].compactMap(\.self), quarantines: record.quarantines,
            gone: record.gone)
    }

    /// Updates handles after steps are recorded, because a refusal refers to a registration that this update may
    /// remove. If the process is killed in between, the next notification finds the handle dead again.
    ///
    /// Pages that are sent at once have their handles updated together, in the order of their channels: the fewer
    /// transactions, the fewer pages of the database are written, because keys and ids are all over it.
    func applyFeedback(of run: inout DeliveryRun) async throws(StorageError) {
        guard !run.feedback.isEmpty else { return }
        let feedback = run.feedback
        run.feedback = []
        _ = try await reader.devices.apply(feedback, in: run.delivery.notification.hub, at: time.now)
    }

    /// From so many changes of handles on, they are made before the turn ends: other writes wait for them.
    private static let feedbackLimit = 2000

    /// Reports problems that need attention to the operator, once each.
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

    /// Ends the delivery.
    /// - Parameter state: The final state; nil if the outcomes determine it.
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

    /// Determines how the delivery continues after a round of retries, or after the last page.
    func untilNextRetry(_ run: inout DeliveryRun) async throws(StorageError) -> DeliveryRun.Ending {
        guard run.progress.isFannedOut else { return .yielded }
        let delivery = run.delivery
        guard let due = try await reader.notifications.nextRetry(of: delivery.id) else {
            return try await finish(&run, nil)
        }
        return due <= time.now ? .yielded : .waiting(until: min(due, delivery.expiresAt))
    }

    /// Removes data that is needed only while the delivery continues. If a progress map cannot be removed now, the
    /// cleanup at the next start removes it.
    func forget(_ delivery: Delivery.ID) {
        lanes.forget(delivery)
        try? reader.maps.remove(delivery)
    }

    /// Removes the same data, and the data of the notification if this was its last delivery.
    /// - Parameter notification: The sequence number of the notification; nil if it is not known.
    func forget(_ delivery: Delivery.ID, of notification: Int64?) async {
        forget(delivery)
        guard let notification else { return }
        rollouts.board.stopMeter(of: notification)
        await rollouts.controls.forgetIfEnded(notification)
    }
}

/// The changes that a page causes in its lane and in handles.
private struct LaneConclusion {
    var pauses: [LanePause]
    var quarantines: [String: Bool]
    /// The devices that are believed to be gone.
    var gone: [ChannelFeedback]
}

extension DeliveryStep {
    /// A step with the outcomes of a page or a round of retries.
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
