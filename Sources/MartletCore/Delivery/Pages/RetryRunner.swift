import MartletModel

/// Sends the due retries of a delivery, in rounds that are not larger than a page.
struct RetryRunner: Sendable {
    let reader: PageReader
    let resolver: LaneResolver
    let lanes: LaneCircuitBreakers
    let rollouts: RolloutPacer
    let sender: PageSender
    let collapseSender: CollapseSender
    let recorder: PageRecorder
    let pageBytes: PageBytes
    let settings: DeliverySettings
    let time: any TimeSource

    /// Sends one round of due retries. If no retry is due yet, returns the time at which the next retry is due; before
    /// that, ends retries of devices that are gone if the turn is to look for them. Ends the delivery if it has no
    /// retries.
    func run(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent
    ) async throws(StorageError) -> DeliveryRun.Ending {
        let delivery = run.delivery
        guard let due = try await reader.notifications.nextRetry(of: delivery.id) else {
            return try await recorder.finish(&run, nil)
        }
        if due > time.now {
            guard run.looksForGone else { return .waiting(until: min(due, delivery.expiresAt)) }
            try await endGone(&run)
            return try await recorder.untilNextRetry(&run)
        }
        return try await runDue(&run, &content)
    }

    /// The maximum number of retries of a delivery that looks whether their devices are gone.
    private static let fewRetries = 10

    /// Ends the retries whose members are no longer in the audience, before the retries are due. A delivery with many
    /// retries, of a roll-out, or to handles is left alone: its retries end when they are due.
    private func endGone(_ run: inout DeliveryRun) async throws(StorageError) {
        run.looksForGone = false
        let delivery = run.delivery
        guard case .audience = delivery.notification.target, delivery.notification.rollout == nil else { return }
        let retries = try await reader.notifications.retries(
            of: delivery.id, due: .distantFuture, limit: Self.fewRetries + 1)
        guard retries.count <= Self.fewRetries else { return }
        let map = try reader.map(of: delivery)
        let round = try await reader.round(of: retries.map(\.member), run.progress, map)
        let (present, last) = (present(in: round), round.through ?? .end)
        let gone = retries.filter { retry in
            retry.member <= last && !present.contains(retry.member) && !round.repeated.contains(retry.member)
                && !map.contains(retry.member)
        }
        guard !gone.isEmpty else { return }
        var tally = recorder.makeTally(delivery, areRetries: true)
        for retry in gone { tally.giveUp(retry) }
        var step = DeliveryStep(delivery.id, tally, cursor: nil, isFannedOut: run.progress.isFannedOut)
        step.newlyReached = try recorder.sharedProgress.blocks(of: gone.map(\.member), in: delivery)
        try await recorder.record(step, of: &run)
    }

    /// Returns the members of a round that are still in the audience, with their own handle or another one.
    private func present(in round: RetryRound) -> Set<AudienceMember> {
        Set(round.page.members).union(round.followed.members).union(round.waiting.keys)
    }

    /// Sends one round of due retries, unless the lane is paused. At least one retry must be due. If the round could do
    /// nothing but wait for probes of origins that are in progress, the delivery waits for these probes.
    func runDue(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent
    ) async throws(StorageError) -> DeliveryRun.Ending {
        let delivery = run.delivery
        let expiry = delivery.expiresAt
        switch resolver.enter(
            delivery.lane, lanes, at: time.now, probeDuration: settings.requestTimeout)
        {
        case .paused(let until): return .paused(delivery.lane, until: min(until, expiry))
        case .ready(let lane): return try await send(&run, &content, lane)
        }
    }

    private func send(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent, _ lane: SendContext
    ) async throws(StorageError) -> DeliveryRun.Ending {
        let delivery = run.delivery
        run.lane = lane
        let wanted =
            lane.isProbe ? LaneCircuitBreakers.probeSize : await sender.retryLimit(of: lane.id, settings.pageSize)
        switch try await rollouts.admit(run, for: wanted) {
        case .later(let timestamp):
            lanes.endProbe(lane)
            return .waiting(until: min(timestamp, delivery.expiresAt))
        case .unknown:
            lanes.endProbe(lane)
            return .gone
        case .now(let limit):
            let hadProgressed = run.hasProgressed
            run.hasProgressed = false
            try await recorder.sharedProgress.storing(of: delivery) { () async throws(StorageError) in
                try await sendRetries(&run, lane, &content, limit: limit)
            }
            // More retries, to other origins, may be due after a round that has recorded something.
            let isStuck = !run.hasProgressed
            run.hasProgressed = run.hasProgressed || hadProgressed
            if isStuck, let until = waitForProbes(of: run) {
                return .probing(until: min(until, delivery.expiresAt))
            }
            return try await recorder.untilNextRetry(&run)
        }
    }

    /// Lets the delivery wait for the probes that retries of its last round wait for.
    /// - Returns: Until when the delivery waits at most; nil if it does not wait.
    private func waitForProbes(of run: DeliveryRun) -> Timestamp? {
        guard !run.probedOrigins.isEmpty, !run.isGone else { return nil }
        return sender.origins.waitForProbes(
            of: run.probedOrigins, in: run.delivery.lane, run.delivery.id, at: time.now)
    }

    private func sendRetries(
        _ run: inout DeliveryRun, _ lane: SendContext, _ content: inout DeliveryContent, limit: Int
    ) async throws(StorageError) {
        let delivery = run.delivery
        let started = time.now
        var retries = try await reader.notifications.retries(of: delivery.id, due: time.now, limit: limit)
        let lease = pageBytes.reserve(members: retries.count)
        defer { withExtendedLifetime(lease) {} }
        let map = try reader.map(of: delivery)
        let round = try await reader.round(of: retries.map(\.member), run.progress, map, byteLimit: lease.granted)
        lease.settle(at: round.page.bytes + round.followed.bytes)
        // Retries whose members did not fit in this round are left to the next round.
        if let last = round.through { retries.removeAll { $0.member > last } }
        recorder.sharedProgress.begin(retries.map(\.member), in: delivery)
        var tally = recorder.makeTally(delivery, areRetries: true)
        finish(retries, but: round, map, tally: &tally)
        let attempts = Dictionary(uniqueKeysWithValues: retries.map { ($0.member, $0.attempts) })
        var sent: Int?
        for page in [round.page] + (round.followed.count > 0 ? [round.followed] : []) {
            let isOwn = page.followed.isEmpty
            let indices = page.members.indices.filter {
                !map.contains(page.members[$0]) && !(isOwn && round.isElsewhere(page.members[$0]))
            }
            var job = PageSender.Job(
                delivery, lane, page: page, stop: rollouts.board.signal(of: delivery.notification.sequence))
            job.attempts = page.members.map { attempts[$0] ?? 0 }
            guard try await collapseSender.send(job, &content, indices: indices, tally: &tally) else { continue }
            sent = (sent ?? 0) + indices.count
        }
        wait(retries, round, map, tally: &tally)
        sent = sent.map { $0 - tally.waitingForProbes }
        run.probedOrigins = tally.probedOrigins
        rollouts.giveBack(limit - (sent ?? 0), of: delivery)
        run.recordNewer(tally.newer)
        guard let sent else {
            run.hasProgressed = true
            return lanes.endProbe(lane)
        }
        // The round has changed nothing if all its retries wait for probes.
        if tally.waitingForProbes > 0, tally.outcomes.isEmpty { return lanes.endProbe(lane) }
        run.sent = sent
        let progress = run.progress
        try await recorder.record(tally, lane, of: &run) { tally throws(StorageError) in
            var step = DeliveryStep(delivery.id, tally, cursor: nil, isFannedOut: progress.isFannedOut)
            step.newlyReached = try recorder.sharedProgress.blocks(of: retries.map(\.member), in: delivery)
            if sent > 0, delivery.notification.rollout != nil { step.sentAt = started }
            return (step, progress)
        }
    }

    /// The minimum time for which a retry waits for the push to another member. Without this minimum, the retry could
    /// become due over and over before that push is tried, and keep a core busy.
    private static let leastWait = Duration.seconds(1)

    /// Ends the retries whose handle was reached in this round as the handle of another member, and postpones the
    /// retries whose handle may still be reached as the handle of another member.
    private func wait(
        _ retries: [Retry], _ round: RetryRound, _ map: any ProgressMap, tally: inout PageTally
    ) {
        guard !round.waiting.isEmpty else { return }
        let again = Dictionary(tally.outcomes.retries.map { ($0.member, $0.dueAt) }) { max($0, $1) }
        for retry in retries where !map.contains(retry.member) {
            guard let wait = round.waiting[retry.member] else { continue }
            if map.contains(wait.awaited) {
                tally.skip(retry)
            } else {
                let next = again[wait.awaited] ?? wait.until ?? time.now
                tally.wait(retry, until: max(next, time.now + Self.leastWait))
            }
        }
    }

    /// Ends the retries that the round does not send. The members of these retries were already reached, at their own
    /// handle or as another member, or are no longer in the audience.
    private func finish(
        _ retries: [Retry], but round: RetryRound, _ map: any ProgressMap, tally: inout PageTally
    ) {
        let present = present(in: round)
        for retry in retries {
            if map.contains(retry.member) {
                tally.addReached(1)
                tally.settle(retry.member)
            } else if round.repeated.contains(retry.member) {
                tally.skip(retry)
            } else if !present.contains(retry.member) {
                tally.giveUp(retry)
            }
        }
    }
}
