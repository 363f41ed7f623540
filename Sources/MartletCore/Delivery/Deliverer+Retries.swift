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
        let page = try await page(of: retries, delivery)
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
        let mayDelete = conclude(&tally, lane, delivery)
        try await record(DeliveryStep(delivery.id, tally, cursor: nil, isFannedOut: true), of: delivery)
        try await apply(tally, mayDelete: mayDelete, delivery, lane)
        return places.count
    }

    /// The members of retries that are still in the audience, with their handles of now: a device that was unregistered
    /// meanwhile, or has another user, must not show what was not meant for it.
    private func page(of retries: [Retry], _ delivery: Delivery) async throws(StorageError) -> AudiencePage {
        let members = retries.map(\.member).sorted()
        switch delivery.notification.target {
        case .direct(let handles):
            return AudiencePage(of: handles, among: members)
        case .audience(let expression):
            var query = AudienceQuery(of: delivery, expression, limit: retries.count, now: time.now)
            query.among = members
            return try await devices.audience(query)
        }
    }

    /// Gives up as many retries as one step takes.
    /// - Returns: Whether there were any.
    func giveUpRetries(_ progress: DeliveryProgress) async throws(StorageError) -> Bool {
        let id = progress.delivery.id
        let left = try await notifications.retries(of: id, due: .distantFuture, limit: settings.pageSize)
        guard !left.isEmpty else { return false }
        let step = DeliveryStep(
            delivery: id, isFannedOut: progress.isFannedOut, state: .processing,
            counts: [.abandoned: left.count], settled: left.map(\.member))
        try await record(step, of: progress.delivery)
        return true
    }
}
