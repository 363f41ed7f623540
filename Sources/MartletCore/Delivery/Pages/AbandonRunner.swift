import MartletModel

/// Ends a delivery that is canceled or has expired, a page at a time.
struct AbandonRunner: Sendable {
    let reader: PageReader
    let recorder: PageRecorder
    let settings: DeliverySettings
    let time: any TimeSource

    /// Counts a page of those who are sent nothing more: first those whose turn has not come, then those who are to be
    /// tried again. When all are counted the delivery ends. Whom it has expired for is a dead letter; a device that does not get
    /// what was canceled is none.
    /// - Parameter state: Canceled or abandoned.
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
        let neverBegan = try hasNeverBegun(run.progress)
        let leavesDeadLetters = outcome == .expired
        let (page, last) = try await reader.nextPage(
            run.progress, limit: leavesDeadLetters ? settings.letterPageSize : settings.pageSize)
        var tally = recorder.makeTally(delivery, areRetries: false)
        tally.addSkipped(page.skipped)
        if page.count > 0 {
            let indices = reader.unreached(in: page, try reader.map(of: delivery, page), tally: &tally)
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
        try await recorder.record(step, of: &run)
        run.record(page, hasRetries: true)
        run.progress = progress
    }

    /// Whether no page was ever begun, in this process or in one that was killed: each makes the map before it sends.
    private func hasNeverBegun(_ progress: DeliveryProgress) throws(StorageError) -> Bool {
        let delivery = progress.delivery
        guard progress.cursor == .none, delivery.notification.collapse != nil else { return false }
        return try reader.maps.existingMap(for: delivery.id, through: delivery.lastNumber) == nil
    }

    /// Gives up as many retries as one step takes. Those that have expired are dead letters, each with what its last
    /// attempt came to.
    /// - Parameter outcome: What they are counted as.
    /// - Returns: Whether there were any.
    private func endRetries(
        _ run: inout DeliveryRun, _ outcome: OutcomeName
    ) async throws(StorageError) -> Bool {
        let delivery = run.delivery
        var left = try await reader.notifications.retries(
            of: delivery.id, due: .distantFuture, limit: settings.pageSize)
        guard !left.isEmpty else { return false }
        let map = try reader.map(of: delivery)
        // Where a device is now is asked for its dead letter alone.
        let isAbandoned = outcome == .abandoned
        let round = isAbandoned ? try await reader.round(of: left.map(\.member), run.progress, map) : nil
        // What did not fit is for the next step.
        if let last = round?.through { left.removeAll { $0.member > last } }
        let addressees = round?.addressees ?? [:]
        let now = time.now
        var step = DeliveryStep(
            delivery: delivery.id, isFannedOut: run.progress.isFannedOut, state: .processing,
            settled: left.map(\.member))
        for retry in left {
            // Reached by what a kill kept from being recorded.
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
