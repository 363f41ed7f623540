import MartletModel

extension Deliverer {
    /// Sends as many of the retries that are due as a page holds.
    func retry(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent
    ) async throws(StorageError) -> DeliveryRun.Ending {
        let delivery = run.delivery
        guard let due = try await notifications.nextRetry(of: delivery.id) else {
            return try await finish(&run, nil)
        }
        if due > time.now { return .waiting(until: min(due, delivery.notification.expiresAt)) }
        return try await retryDue(&run, &content)
    }

    /// Sends the retries that are due, of which there is one.
    func retryDue(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent
    ) async throws(StorageError) -> DeliveryRun.Ending {
        let delivery = run.delivery
        let expiry = delivery.notification.expiresAt
        switch readiness(of: delivery) {
        case .paused(let until): return .paused(delivery.lane, until: min(until, expiry))
        case .ready(let lane): return try await retry(&run, &content, lane)
        }
    }

    private func retry(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent, _ lane: SendContext
    ) async throws(StorageError) -> DeliveryRun.Ending {
        let delivery = run.delivery
        run.lane = lane
        let wanted =
            lane.isProbe ? LaneCircuitBreakers.probeSize : await sender.retryLimit(of: lane.id, settings.pageSize)
        switch try await turn(of: run, for: wanted) {
        case .later(let timestamp):
            lanes.endProbe(lane)
            return .waiting(until: min(timestamp, delivery.notification.expiresAt))
        case .unknown:
            lanes.endProbe(lane)
            return .gone
        case .now(let limit):
            try await sendRetries(&run, lane, &content, limit: limit)
            return try await untilNextRetry(&run)
        }
    }

    /// What is next when a round of retries, or the last page, is done with.
    func untilNextRetry(_ run: inout DeliveryRun) async throws(StorageError) -> DeliveryRun.Ending {
        guard run.progress.isFannedOut else { return .yielded }
        let delivery = run.delivery
        guard let due = try await notifications.nextRetry(of: delivery.id) else {
            return try await finish(&run, nil)
        }
        return due <= time.now ? .yielded : .waiting(until: min(due, delivery.notification.expiresAt))
    }

    private func sendRetries(
        _ run: inout DeliveryRun, _ lane: SendContext, _ content: inout DeliveryContent, limit: Int
    ) async throws(StorageError) {
        let delivery = run.delivery
        let started = time.now
        var retries = try await notifications.retries(of: delivery.id, due: time.now, limit: limit)
        let lease = pageBytes.reserve(members: retries.count)
        defer { withExtendedLifetime(lease) {} }
        let map = try map(of: delivery)
        let round = try await round(of: retries.map(\.member), run.progress, map, byteLimit: lease.granted)
        lease.settle(at: round.page.bytes + round.followed.bytes)
        // What did not fit is for the next round.
        if let last = round.through { retries.removeAll { $0.member > last } }
        var tally = makeTally(delivery, areRetries: true)
        settle(retries, but: round, map, tally: &tally)
        let attempts = Dictionary(uniqueKeysWithValues: retries.map { ($0.member, $0.attempts) })
        var sent: Int?
        for page in [round.page] + (round.followed.count > 0 ? [round.followed] : []) {
            let indices = page.members.indices.filter { !map.contains(page.members[$0]) }
            var job = PageSender.Job(delivery, lane, page: page, map: map, stop: stop(of: delivery))
            job.attempts = page.members.map { attempts[$0] ?? 0 }
            guard try await sendInTurn(job, &content, indices: indices, tally: &tally) else { continue }
            sent = (sent ?? 0) + indices.count
        }
        giveBack(limit - (sent ?? 0), of: delivery)
        run.recordNewer(tally.newer)
        guard let sent else {
            run.hasProgressed = true
            return lanes.endProbe(lane)
        }
        run.sent = sent
        let conclusion = conclude(&tally, lane, delivery)
        var step = DeliveryStep(delivery.id, tally, cursor: nil, isFannedOut: run.progress.isFannedOut)
        if sent > 0, delivery.notification.rollout != nil { step.sentAt = started }
        step.add(conclusion)
        try await record(step, of: &run)
        try await apply(tally, conclusion, delivery, lane)
        try await haltIfNeeded(delivery, tally.counts)
    }

    /// Ends the retries of those who were reached, and of those who are in no page of a round.
    private func settle(
        _ retries: [Retry], but round: RetryRound, _ map: any ProgressMap, tally: inout PageTally
    ) {
        let present = Set(round.page.members).union(round.followed.members)
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

    /// Those members that are still in the audience, with their handles of now: a device that was unregistered meanwhile,
    /// or has another user, must not show what was not meant for it.
    /// - Returns: As many as fit, from the first on; it is the last page where all of them do.
    func page(
        of members: [AudienceMember], _ delivery: Delivery, byteLimit: Int = AudiencePage.byteLimit
    ) async throws(StorageError) -> AudiencePage {
        let members = members.sorted()
        switch delivery.notification.target {
        case .direct(let handles):
            return AudiencePage(of: handles, among: members)
        case .audience(let expression):
            var query = AudienceQuery(
                of: delivery, expression, limit: members.count, byteLimit: byteLimit, now: time.now)
            query.among = members
            return try await devices.audience(query)
        }
    }
}
