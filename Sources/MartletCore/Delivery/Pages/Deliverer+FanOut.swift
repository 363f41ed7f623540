import MartletModel

extension Deliverer {
    /// Sends the next page.
    func fanOut(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent
    ) async throws(StorageError) -> DeliveryRun.Ending {
        let delivery = run.delivery
        let expiry = delivery.notification.expiresAt
        switch readiness(of: delivery) {
        case .paused(let until):
            if try await isForNoOne(run.progress) { return try await finish(&run, .noTargetFound) }
            return .paused(delivery.lane, until: min(until, expiry))
        case .ready(let lane): run.lane = lane
        }
        guard let lane = run.lane else { return .yielded }
        switch try await turn(of: run, for: pageLimit(of: run, lane)) {
        case .later(let timestamp):
            lanes.endProbe(lane)
            return .waiting(until: min(timestamp, expiry))
        case .unknown:
            lanes.endProbe(lane)
            return .gone
        case .now(let limit): try await sendPages(&run, &content, lane, limit: limit)
        }
        guard run.progress.isFannedOut else { return .yielded }
        if run.progress.state.isFinal {
            await forget(delivery.id, of: delivery.notification.sequence)
            return .finished
        }
        return try await untilNextRetry(&run)
    }

    private func pageLimit(of run: DeliveryRun, _ lane: SendContext) -> Int {
        if lane.isProbe { return LaneCircuitBreakers.probeSize }
        let standard = run.hasBegun ? settings.pageSize : min(settings.firstPageSize, settings.pageSize)
        let isInVain = !lane.sendsAnything || lanes.refusal(of: run.delivery.id) != nil
        return isInVain ? min(standard, letterPageSize) : standard
    }

    /// The most devices of a page each of which leaves a letter: these are written one by one, while all others who have
    /// something to write wait.
    var letterPageSize: Int { min(settings.pageSize, 1000) }

    /// - Returns: The places of those whom no earlier attempt has reached, of which nothing but its bit was left where a
    ///   page was under way when the process ended. The others are counted.
    func unreached(in page: AudiencePage, _ map: any ProgressMap, tally: inout PageTally) -> [Int] {
        let indices = page.members.indices.filter { !map.contains(page.members[$0]) }
        tally.addReached(page.count - indices.count)
        return indices
    }

    /// What a page has come to, and where it leaves the delivery.
    func pageStep(
        _ progress: inout DeliveryProgress, _ page: AudiencePage, through last: AudienceMember, _ tally: PageTally,
        startedAt: Timestamp, endedAt: Timestamp
    ) -> DeliveryStep {
        let isFirst = progress.state == .enqueued
        progress.state = .processing
        progress.cursor = last
        progress.isFannedOut = page.isLast
        var step = DeliveryStep(progress.delivery.id, tally, cursor: progress.cursor, isFannedOut: page.isLast)
        step.startedAt = isFirst ? startedAt : nil
        step.range = RangeRecord(page, through: last, tally, startedAt: startedAt, endedAt: endedAt)
        return step
    }

    /// - Returns: The page behind the cursor, and where the cursor stands when it is done with.
    func nextPage(
        _ progress: DeliveryProgress, limit: Int, byteLimit: Int = AudiencePage.byteLimit
    ) async throws(StorageError) -> (AudiencePage, last: AudienceMember) {
        let delivery = progress.delivery
        if delivery.notification.resend != nil {
            let dead = try await deadLetters.resendMembers(of: delivery, after: progress.cursor, limit: limit)
            var page = try await page(of: dead.members, delivery, byteLimit: byteLimit)
            if !page.isLast, let last = page.members.last { return (page, last) }
            page.isLast = dead.isLast
            return (page, dead.last)
        }
        let page: AudiencePage =
            switch delivery.notification.target {
            case .direct(let handles):
                AudiencePage(of: handles, after: progress.cursor, limit: limit)
            case .audience(let expression):
                try await devices.audience(
                    AudienceQuery(
                        of: delivery, expression, after: progress.cursor, limit: limit, byteLimit: byteLimit,
                        now: time.now))
            }
        return (page, page.members.last ?? progress.cursor)
    }

    /// Whether there is no device to wait for: most platforms of a template notification have none.
    private func isForNoOne(_ progress: DeliveryProgress) async throws(StorageError) -> Bool {
        guard progress.cursor == .none else { return false }
        let (page, _) = try await nextPage(progress, limit: 1)
        return page.count == 0 && page.skipped == 0 && page.isLast
    }
}
