import MartletModel

/// Ends a canceled or expired delivery, one page at a time.
struct AbandonRunner: Sendable {
    let reader: PageReader
    let recorder: PageRecorder
    let settings: DeliverySettings
    let time: any TimeSource

    /// Counts one page of members that no longer get the notification: first the members in pages that were not sent
    /// yet, then the members with retries. When all members are counted, the delivery ends. An expired push leaves a
    /// dead letter; a canceled push does not.
    /// - Parameter state: The final state of the delivery: canceled or abandoned.
    func run(_ run: inout DeliveryRun, as state: NotificationState) async throws(StorageError) -> DeliveryRun.Ending {
        let outcome = state == .canceled ? Outcome.canceled : .expired
        if !run.progress.isFannedOut {
            try await endPage(&run, outcome)
        } else if try await !endRetries(&run, outcome.name) {
            return try await recorder.finish(&run, state)
        }
        return .yielded
    }

    private func endPage(_ run: inout DeliveryRun, _ outcome: Outcome) async throws(StorageError) {
        let delivery = run.delivery
        let started = time.now
        let neverBegan = hasNeverBegun(run.progress)
        let leavesDeadLetters = outcome == .expired
        let (page, last) = try await reader.nextPage(
            run.progress, limit: settings.pageSize)
        var tally = recorder.makeTally(delivery, areRetries: false)
        tally.addSkipped(page.skipped)
        if page.count > 0 {
            let open = try reader.unreached(in: page, of: delivery, tally: &tally)
            let indices = try await reader.excludingHandled(open, of: page, in: delivery)
            if leavesDeadLetters {
                let addressees = indices.map { index in
                    PageTally.Addressee(member: page.members[index], handle: page.handle(index), attemptsBefore: 0)
                }
                tally.addUnreached(addressees, outcome)
            } else {
                tally.addUnsent(indices.count, outcome)
            }
        }
        var progress = run.progress
        var step = DeliveryStep(&progress, page, through: last, tally, startedAt: started, endedAt: time.now)
        step.supersedesNone = neverBegan
        step.newlyReached = try recorder.sharedProgress.blocks(of: page.members, in: delivery)
        try await recorder.record(step, of: &run)
        run.record(page, hasRetries: true)
        run.progress = progress
    }

    /// Returns whether no page of the delivery was ever begun, by this process or by an earlier one. The progress map
    /// is created before the first page is sent, so a delivery without a map has not begun.
    private func hasNeverBegun(_ progress: DeliveryProgress) -> Bool {
        let delivery = progress.delivery
        guard progress.cursor == .none, delivery.notification.collapse != nil, delivery.part?.lead == nil else {
            return false
        }
        return !reader.maps.hasMap(of: delivery.id)
    }

    /// Ends as many retries as can be recorded in one step. Each expired retry leaves a dead letter with the outcome
    /// `abandoned`. The reason in the dead letter is the outcome of the last attempt.
    /// - Parameter outcome: The outcome under which the retries are counted.
    /// - Returns: Whether there were any retries.
    private func endRetries(
        _ run: inout DeliveryRun, _ outcome: OutcomeName
    ) async throws(StorageError) -> Bool {
        let delivery = run.delivery
        var left = try await reader.notifications.retries(
            of: delivery.id, due: .distantFuture, limit: settings.pageSize)
        guard !left.isEmpty else { return false }
        let map = try reader.map(of: delivery)
        // Current handles are looked up only if the retries leave dead letters.
        let isAbandoned = outcome == .abandoned
        let round = isAbandoned ? try await reader.round(of: left.map(\.member), run.progress, map) : nil
        // Retries whose members did not fit in the round are left for the next step.
        if let last = round?.through { left.removeAll { $0.member > last } }
        let addressees = round?.addressees ?? [:]
        let now = time.now
        var step = DeliveryStep(
            delivery: delivery.id, isFannedOut: run.progress.isFannedOut, state: .processing,
            settled: left.map(\.member))
        step.newlyReached = try recorder.sharedProgress.blocks(of: left.map(\.member), in: delivery)
        for retry in left {
            // True if an attempt has reached the member, but the process was killed before the outcome was recorded.
            let isReached = map.contains(retry.member)
            let isSentToAsAnother = round?.repeated.contains(retry.member) ?? false
            step.counts[isReached ? .success : isSentToAsAnother ? .skipped : outcome, default: 0] += 1
            guard isAbandoned, !isReached, !isSentToAsAnother else { continue }
            step.refusals.append(
                Refusal(
                    member: retry.member, registration: addressees[retry.member]?.registration,
                    handle: addressees[retry.member]?.handle, outcome: .abandoned,
                    reason: Self.reasonOfAbandoning(retry), at: now, attempts: retry.attempts))
        }
        try await recorder.record(step, of: &run)
        return true
    }

    private static func reasonOfAbandoning(_ retry: Retry) -> String {
        if retry.outcome == .held { return "It was paused before it was sent." }
        return retry.reason.isEmpty ? retry.outcome.rawValue : "\(retry.outcome.rawValue): \(retry.reason)"
    }
}
