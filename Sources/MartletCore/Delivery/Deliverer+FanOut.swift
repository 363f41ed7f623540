import MartletModel

extension Deliverer {
    /// Sends the next page.
    func fanOut(
        _ course: inout DeliveryCourse, _ content: inout DeliveryContent
    ) async throws(StorageError) -> Ending {
        let delivery = course.delivery
        let expiry = delivery.notification.expiresAt
        switch readiness(of: delivery) {
        case .paused(let until):
            if try await isForNobody(course.progress) { return try await finish(&course, .noTargetFound) }
            return .paused(delivery.lane, until: min(until, expiry))
        case .ready(let lane): course.lane = lane
        }
        guard let lane = course.lane else { return .yielded }
        switch try await turn(of: course, for: pageLimit(of: course, lane)) {
        case .later(let moment):
            lanes.endProbe(lane)
            return .waiting(until: min(moment, expiry))
        case .unknown:
            lanes.endProbe(lane)
            return .gone
        case .now(let limit): try await sendPages(&course, &content, lane, limit: limit)
        }
        guard course.progress.isFannedOut else { return .yielded }
        if course.progress.state.isFinal {
            await forget(delivery.id, of: delivery.notification.sequence)
            return .finished
        }
        return try await untilNextRetry(&course)
    }

    private func pageLimit(of course: DeliveryCourse, _ lane: ReadyLane) -> Int {
        if lane.isProbe { return LaneBoard.probeSize }
        let usual = course.hasBegun ? settings.pageSize : min(settings.firstPageSize, settings.pageSize)
        let isInVain = !lane.sendsAnything || lanes.refusal(of: course.delivery.id) != nil
        return isInVain ? min(usual, letterPageSize) : usual
    }

    /// The most devices of a page each of which leaves a letter: these are written one by one, while all others who have
    /// something to write wait.
    var letterPageSize: Int { min(settings.pageSize, 1000) }

    /// - Returns: The places of those whom no earlier attempt has reached, of which nothing but its bit was left where a
    ///   page was under way when the process ended. The others are counted.
    func unreached(in page: AudiencePage, _ map: any ProgressMap, tally: inout PageTally) -> [Int] {
        let places = page.members.indices.filter { !map.contains(page.members[$0]) }
        tally.addReached(page.count - places.count)
        return places
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
            let dead = try await letters.resendMembers(of: delivery, after: progress.cursor, limit: limit)
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
    private func isForNobody(_ progress: DeliveryProgress) async throws(StorageError) -> Bool {
        guard progress.cursor == .none else { return false }
        let (page, _) = try await nextPage(progress, limit: 1)
        return page.count == 0 && page.skipped == 0 && page.isLast
    }
}
