import MartletModel

extension Deliverer {
    /// Sends as many of the retries that are due as a page holds.
    func retry(
        _ course: inout DeliveryCourse, _ content: inout DeliveryContent
    ) async throws(StorageError) -> Ending {
        let delivery = course.delivery
        let expiry = delivery.notification.expiresAt
        guard let due = try await notifications.nextRetry(of: delivery.id) else {
            return try await finish(course.progress, nil)
        }
        if due > time.now, expiry > time.now { return .waiting(until: min(due, expiry)) }
        switch try await readiness(of: delivery, after: course.lane) {
        case .expired: return try await finish(course.progress, .abandoned)
        case .paused(let until): return .paused(delivery.lane, until: min(until, expiry))
        case .interrupted: return .interrupted
        case .ready(let lane):
            course.lane = lane
            course.sent = try await sendRetries(delivery, lane, &content)
            return try await untilNextRetry(course.progress)
        }
    }

    /// What is next where every page is done with.
    func untilNextRetry(_ progress: DeliveryProgress) async throws(StorageError) -> Ending {
        let delivery = progress.delivery
        guard let due = try await notifications.nextRetry(of: delivery.id) else {
            return try await finish(progress, nil)
        }
        return due <= time.now ? .yielded : .waiting(until: min(due, delivery.notification.expiresAt))
    }

    /// - Returns: How many were sent.
    private func sendRetries(
        _ delivery: Delivery, _ lane: ReadyLane, _ content: inout DeliveryContent
    ) async throws(StorageError) -> Int {
        let limit = lane.isProbe ? LaneBoard.probeSize : await sender.retryLimit(of: lane.id, settings.pageSize)
        let retries = try await notifications.retries(of: delivery.id, due: time.now, limit: limit)
        let page = try await page(of: retries.map(\.member), delivery)
        let map = try map(of: delivery)
        var tally = makeTally(delivery, lane, areRetries: true)
        let places = page.members.indices.filter { !map.contains(page.members[$0]) }
        let present = Set(page.members)
        for retry in retries {
            if map.contains(retry.member) {
                tally.addReached(1)
                tally.settle(retry.member)
            } else if !present.contains(retry.member) {
                tally.giveUp(retry)
            }
        }
        let attempts = Dictionary(uniqueKeysWithValues: retries.map { ($0.member, $0.attempts) })
        var job = PageSender.Job(delivery, lane, page: page, map: map)
        job.attempts = page.members.map { attempts[$0] ?? 0 }
        guard try await sendInTurn(job, &content, places: places, tally: &tally) else { return 0 }
        let conclusion = conclude(&tally, lane, delivery)
        var step = DeliveryStep(delivery.id, tally, cursor: nil, isFannedOut: true)
        step.add(conclusion)
        try await record(step, of: delivery)
        try await apply(tally, conclusion, delivery, lane)
        return places.count
    }

    /// Those members that are still in the audience, with their handles of now: a device that was unregistered meanwhile,
    /// or has another user, must not show what was not meant for it.
    func page(of members: [AudienceMember], _ delivery: Delivery) async throws(StorageError) -> AudiencePage {
        let members = members.sorted()
        switch delivery.notification.target {
        case .direct(let handles):
            return AudiencePage(of: handles, among: members)
        case .audience(let expression):
            var query = AudienceQuery(of: delivery, expression, limit: members.count, now: time.now)
            query.among = members
            return try await devices.audience(query)
        }
    }

    /// Gives up as many retries as one step takes: each is a dead letter with what its last attempt came to.
    /// - Returns: Whether there were any.
    func giveUpRetries(_ progress: DeliveryProgress) async throws(StorageError) -> Bool {
        let delivery = progress.delivery
        let left = try await notifications.retries(of: delivery.id, due: .distantFuture, limit: settings.pageSize)
        guard !left.isEmpty else { return false }
        let page = try await page(of: left.map(\.member), delivery)
        let places = Dictionary(uniqueKeysWithValues: page.members.enumerated().map { ($1, $0) })
        let map = try map(of: delivery)
        let now = time.now
        var step = DeliveryStep(
            delivery: delivery.id, isFannedOut: progress.isFannedOut, state: .processing,
            settled: left.map(\.member))
        for retry in left {
            // Reached by what a kill kept from being recorded.
            let isReached = map.contains(retry.member)
            step.counts[isReached ? .success : .abandoned, default: 0] += 1
            guard !isReached else { continue }
            step.refusals.append(
                Refusal(
                    member: retry.member, handle: places[retry.member].map(page.handle), outcome: .abandoned,
                    reason: Self.reasonOfAbandoning(retry), at: now, attempts: retry.attempts))
        }
        try await record(step, of: delivery)
        return true
    }

    private static func reasonOfAbandoning(_ retry: Retry) -> String {
        retry.reason.isEmpty ? retry.outcome.rawValue : "\(retry.outcome.rawValue): \(retry.reason)"
    }
}
