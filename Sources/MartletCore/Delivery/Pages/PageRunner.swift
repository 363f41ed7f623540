import MartletHTTP
import MartletModel

/// Sends the next pages of a delivery in one of its turns (`DeliveryQueue`): reads their members, sends to them, and
/// records the outcomes.
struct PageRunner: Sendable {
    let reader: PageReader
    let resolver: LaneResolver
    let lanes: LaneCircuitBreakers
    let rollouts: RolloutPacer
    let sender: PageSender
    let collapseSender: CollapseSender
    let recorder: PageRecorder
    let pageBytes: PageBytes
    let extraPages: ExtraPages
    let settings: DeliverySettings
    let time: any TimeSource

    /// Sends the pages of one turn. Sends nothing if the lane is paused, or if the rate of the roll-out does not allow
    /// a push yet.
    func run(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent
    ) async throws(StorageError) -> DeliveryRun.Ending {
        let delivery = run.delivery
        let expiry = delivery.expiresAt
        switch resolver.enter(
            delivery.lane, lanes, at: time.now, probeDuration: settings.requestTimeout)
        {
        case .paused(let until):
            if try await reader.isAudienceEmpty(run.progress) { return try await recorder.finish(&run, .noTargetFound) }
            return .paused(delivery.lane, until: min(until, expiry))
        case .ready(let lane): run.lane = lane
        }
        guard let lane = run.lane else { return .yielded }
        switch try await rollouts.admit(run, for: pageLimit(of: run, lane)) {
        case .later(let timestamp):
            lanes.endProbe(lane)
            return .waiting(until: min(timestamp, expiry))
        case .unknown:
            lanes.endProbe(lane)
            return .gone
        case .now(let limit):
            try await recorder.sharedProgress.storing(of: delivery) { () async throws(StorageError) in
                try await sendPages(&run, &content, lane, limit: limit)
            }
        }
        guard run.progress.isFannedOut else { return .yielded }
        if run.progress.state.isFinal {
            await recorder.forget(delivery.id, of: delivery.notification.sequence)
            return .finished
        }
        return try await recorder.untilNextRetry(&run)
    }

    private func pageLimit(of run: DeliveryRun, _ lane: SendContext) -> Int {
        if lane.isProbe { return LaneCircuitBreakers.probeSize }
        return run.hasBegun ? settings.pageSize : min(settings.firstPageSize, settings.pageSize)
    }

    /// Sends the pages of one turn. The turn has only one page if the page is the probe of its lane, if the
    /// notification is a resend, or if the failures of a roll-out or a collapse key must be checked before each page.
    /// Otherwise, several pages are in progress at the same time. The second page of a delivery waits for the first
    /// page. If the service has a sending rate, each page waits for the page before it. `patience` describes how long
    /// these waits are.
    /// - Parameter limit: The maximum number of members in a page.
    private func sendPages(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent, _ lane: SendContext, limit: Int
    ) async throws(StorageError) {
        let overlaps = overlapsPages(of: run, lane)
        var first: InFlightPage?
        if !overlaps || !run.hasBegun || lane.hasSendingRate {
            let page = try await read(run.progress, lane, limit: limit)
            guard overlaps, !page.page.isLast else {
                return try await send(page, of: &run, &content, lane, limit: limit)
            }
            first = page
        }
        let further = first == nil ? limit : settings.pageSize
        let failure = await overlapPages(&run, &content, lane, first: first, limit: further)
        if let failure {
            try? await recorder.applyFeedback(of: &run)
            throw failure
        }
        try await recorder.applyFeedback(of: &run)
    }

    private func send(
        _ page: InFlightPage, of run: inout DeliveryRun, _ content: inout DeliveryContent, _ lane: SendContext,
        limit: Int
    ) async throws(StorageError) {
        let delivery = run.delivery
        var page = page
        rollouts.giveBack(limit - page.page.count, of: delivery)
        swap(&page.content, &content)
        defer { swap(&page.content, &content) }
        try await send(&page, lane, delivery)
        guard page.wasSent else {
            run.recordNewer(page.tally.newer)
            run.hasProgressed = true
            lanes.endProbe(lane)
            return rollouts.giveBack(page.page.count, of: delivery)
        }
        try await record(page, lane, &run, isAlone: true)
    }

    // MARK: Several pages at once

    /// The maximum number of pages in one turn. The limit lets other deliveries have their turns. It is high, because
    /// at the end of a turn the delivery sends nothing until the last answers have come, which takes long if the
    /// latency is high.
    private static let pagesOfTurn = 64

    private func overlapsPages(of run: DeliveryRun, _ lane: SendContext) -> Bool {
        let notification = run.delivery.notification
        guard settings.pagesAtOnce > 1, !lane.isProbe, case .by = lane.sending else { return false }
        // A roll-out sends one page at a time, so that its failures are checked after each page. The only exception is
        // the rest of a canary without a rate: it is sent as fast as possible, several pages at once.
        let isPaced = notification.rollout.map { $0.pace != nil || run.delivery.part?.side != .rest } ?? false
        return !isPaced && notification.collapse == nil && notification.resend == nil
    }

    /// Reads and sends the next pages while earlier pages wait for their answers, so that sending does not stop while
    /// the store is read or an answer is awaited. Pages are recorded in order: the cursor never passes an unfinished
    /// page.
    /// - Parameters:
    ///   - first: The first page of the turn, if the second page must wait for it: either the first page of the
    ///     delivery, or a page to a service with a sending rate. Otherwise nil.
    /// - Returns: The error of the store, if there was one.
    private func overlapPages(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent, _ lane: SendContext, first: InFlightPage?,
        limit: Int
    ) async -> StorageError? {
        let delivery = run.delivery
        var contents = [content]
        content = .nothing
        defer { content = contents.last ?? sender.content(of: delivery, on: resolver.platforms[delivery.platform]) }
        return await withTaskGroup(of: Result<PageEvent, StorageError>.self) { group in
            var begun = run.progress
            var (begunCount, endedCount) = (0, 0)
            let pagesAtOnce = PagesAtOnce(
                most: settings.pagesAtOnce, requestTimeout: settings.requestTimeout, start: time.now,
                before: run.pageTime)
            var ended: [Int: InFlightPage] = [:]
            var newest: AwaitedPage?
            defer {
                extraPages.giveBack(max(0, begunCount - endedCount - 1))
                if !lane.hasSendingRate, first == nil || begunCount > 1 {
                    run.pageTime = pagesAtOnce.pageTime(ended: endedCount, at: time.now)
                }
            }
            do throws(StorageError) {
                while true {
                    // With a sending rate, the time per page shows the rate and not the speed of the service.
                    let most =
                        lane.hasSendingRate
                        ? settings.pagesAtOnce : pagesAtOnce.limit(ended: endedCount + ended.count, at: time.now)
                    while begunCount == 0
                        || newest == nil && !run.isGone
                            && mayBegin(begun, after: begunCount, begunCount - endedCount, atMost: most, lane)
                    {
                        begunCount += 1
                        var page: InFlightPage
                        if let first, begunCount == 1 {
                            page = first
                        } else {
                            page = try await read(begun, lane, limit: limit)
                        }
                        page.number = begunCount - 1
                        page.content =
                            contents.popLast()
                            ?? sender.content(of: delivery, on: resolver.platforms[delivery.platform])
                        begun.cursor = page.last
                        begun.isFannedOut = page.page.isLast
                        group.addTask { [page] in await sent(page, lane, delivery) }
                        guard lane.hasSendingRate || first != nil && begunCount == 1 else { continue }
                        newest = AwaitedPage(number: page.number, page: page.page, unsent: page.unsent)
                        group.addTask { [number = page.number] in await wait(for: number) }
                    }
                    guard begunCount > endedCount, let result = await group.next() else {
                        // Only tasks of `wait(for:)` are left in the group, and the pages that they wait for have
                        // ended.
                        group.cancelAll()
                        return nil
                    }
                    switch try result.get() {
                    case .waited(let number):
                        guard let page = newest, page.number == number else { continue }
                        if page.unsent.isEmpty, try isMostlyReached(page.page, of: delivery) {
                            newest = nil
                        } else {
                            group.addTask { await wait(for: number) }
                        }
                    case .sent(let sent):
                        let isAwaited = sent.number == newest?.number
                        let isOnly = begunCount - endedCount - ended.count == 1
                        if isAwaited { newest = nil }
                        // Only tasks of `wait(for:)` are left in the group, and they are no longer needed.
                        if isAwaited, isOnly { group.cancelAll() }
                        ended[sent.number] = sent
                        while let page = ended.removeValue(forKey: endedCount) {
                            try await record(page, lane, &run, isAlone: false)
                            contents.append(page.content)
                            endedCount += 1
                            if begunCount > endedCount { extraPages.giveBack(1) }
                        }
                        if isAwaited, isOnly { return nil }
                    }
                }
            } catch {
                await group.waitForAll()
                return error
            }
        }
    }

    /// The report of a task of `overlapPages`.
    private enum PageEvent: Sendable {
        case sent(InFlightPage)
        /// The task has waited for the page with this number for as long as `patience`.
        case waited(Int)
    }

    /// The page that the next page waits for.
    private struct AwaitedPage {
        let number: Int
        let page: AudiencePage
        let unsent: UnsentPushes
    }

    /// How long a page waits, at first, for the page before it, if it must wait at all. After that time, it keeps
    /// waiting only while pushes of the page before it wait for the sending rate, or while fewer than half of the
    /// devices of that earlier page were reached. So a few devices that do not answer do not delay all others until
    /// their requests time out. A service that answers nothing gets no more requests.
    private static let patience = Duration.seconds(1)

    private func wait(for number: Int) async -> Result<PageEvent, StorageError> {
        try? await time.sleep(until: time.now + Self.patience)
        return .success(.waited(number))
    }

    private func isMostlyReached(_ page: AudiencePage, of delivery: Delivery) throws(StorageError) -> Bool {
        let map = try reader.map(of: delivery)
        return page.members.count(where: map.contains) * 2 >= page.count
    }

    /// Returns whether the delivery may still send its next page. It may not if it was paused, canceled or interrupted,
    /// or if it has expired.
    private func isStillWanted(_ progress: DeliveryProgress) -> Bool {
        rollouts.board.step(of: progress, at: time.now) == .fanOut
    }

    /// Returns whether the next page may be begun in this turn. False if enough pages were begun, or if something has
    /// changed that must be checked at the beginning of a turn, such as a pause of the lane.
    private func mayBegin(
        _ begun: DeliveryProgress, after count: Int, _ inHand: Int, atMost most: Int, _ lane: SendContext
    ) -> Bool {
        let delivery = begun.delivery
        return inHand < most && count < Self.pagesOfTurn && !begun.isFannedOut
            && isStillWanted(begun) && lanes.isOpen(lane.id) && lanes.refusal(of: delivery.id) == nil
            && resolver.isCurrent(lane)
            && (inHand == 0 || pageBytes.hasRoom && extraPages.take(of: settings.extraPages))
    }

    private func sent(
        _ page: InFlightPage, _ lane: SendContext, _ delivery: Delivery
    ) async -> Result<PageEvent, StorageError> {
        var page = page
        do throws(StorageError) {
            try await send(&page, lane, delivery)
            return .success(.sent(page))
        } catch {
            return .failure(error)
        }
    }

    // MARK: One page

    private func read(
        _ progress: DeliveryProgress, _ lane: SendContext, limit: Int
    ) async throws(StorageError) -> InFlightPage {
        let started = time.now
        let bodyBytes = ownBodyBytes(of: progress.delivery, lane, members: limit)
        let lease = pageBytes.reserve(members: limit, bodyBytes: bodyBytes)
        let limit = bodyBytes > 0 ? min(limit, max(lease.granted / bodyBytes, 1)) : limit
        let (page, last) = try await reader.nextPage(progress, limit: limit, byteLimit: lease.granted)
        lease.settle(at: page.bytes + page.count * bodyBytes)
        return InFlightPage(
            page: page, lease: lease, last: last, tally: recorder.makeTally(progress.delivery, areRetries: false),
            startedAt: started,
            endedAt: started)
    }

    /// Returns the size in bytes of the request body that each member of a page needs for itself; 0 if all members
    /// share one body, or if the bodies are small.
    private func ownBodyBytes(of delivery: Delivery, _ lane: SendContext, members: Int) -> Int {
        guard let message = sampleMessage(of: delivery, lane, longerThan: PageBytes.least / max(members, 1)),
            case .by(let service) = lane.sending,
            let shared = try? service.shared(
                message, token: nil, expiry: delivery.expiresAt, at: time.now),
            shared.body == nil
        else { return 0 }
        return message.body.count
    }

    /// Returns one message of a delivery whose messages all have about the same size. Returns nil if the messages have
    /// at most `size` bytes, or if they are rendered from templates, because such messages may differ in size.
    private func sampleMessage(of delivery: Delivery, _ lane: SendContext, longerThan size: Int) -> Message? {
        switch delivery.notification.content {
        case .native(_, let message): message.body.count > size ? message : nil
        case .template: nil
        case .message(let content):
            if content.body.count > size, let platform = resolver.platforms[delivery.platform] {
                try? ComposedRendering(content, of: delivery.notification, on: platform).message(language: 0)
            } else {
                nil
            }
        }
    }

    private func send(
        _ inFlight: inout InFlightPage, _ lane: SendContext, _ delivery: Delivery
    ) async throws(StorageError) {
        inFlight.tally.addSkipped(inFlight.page.skipped)
        if inFlight.page.count > 0 {
            recorder.sharedProgress.begin(inFlight.page.members, in: delivery)
            var indices = try reader.unreached(in: inFlight.page, of: delivery, tally: &inFlight.tally)
            if delivery.part != nil {
                indices = try await reader.excludingHandled(indices, of: inFlight.page, in: delivery)
            }
            var job = PageSender.Job(
                delivery, lane, page: inFlight.page,
                stop: rollouts.board.signal(of: delivery.notification.sequence))
            job.hasWaitedOnPurpose = rollouts.waitsOnPurpose(delivery)
            job.unsent = inFlight.unsent
            if let outcome = lanes.refusal(of: delivery.id) {
                inFlight.tally.addUnreached(indices.map { sender.addressee($0, of: job) }, outcome)
            } else {
                inFlight.wasSent = try await collapseSender.send(
                    job, &inFlight.content, indices: indices, tally: &inFlight.tally)
            }
        }
        inFlight.endedAt = time.now
    }

    private func record(
        _ inFlight: InFlightPage, _ lane: SendContext, _ run: inout DeliveryRun, isAlone: Bool
    ) async throws(StorageError) {
        let delivery = run.delivery
        let page = inFlight.page
        var tally = inFlight.tally
        tally.settleHeld(isCanceled: rollouts.board.control(of: delivery.notification.sequence) == .canceled)
        run.record(page, hasRetries: !tally.outcomes.retries.isEmpty)
        run.recordNewer(tally.newer)
        let isOnePage = run.knowsAll && run.progress.cursor == .none
        let (start, final) = (run.progress, run.final)
        try await recorder.record(tally, lane, of: &run, collectsFeedback: !isAlone) { tally throws(StorageError) in
            var progress = start
            var step = DeliveryStep(
                &progress, page, through: inFlight.last, tally, startedAt: inFlight.startedAt, endedAt: inFlight.endedAt
            )
            if page.count > 0, delivery.notification.rollout != nil { step.sentAt = inFlight.startedAt }
            let isLast = page.isLast && final != nil
            if !isLast || isOnePage {
                step.newlyReached = try recorder.sharedProgress.blocks(of: page.members, in: delivery)
            }
            if page.isLast, let final {
                progress.state = final
                step.state = final
                step.endedAt = inFlight.endedAt
                // Blocks that are stored before the end may have other members than those of this page.
                if step.newlyReached == nil {
                    step.reached = try reader.reached(of: delivery, isOnePage ? page : nil)
                }
            }
            return (step, progress)
        }
    }
}

/// A page of a turn, from the reading of its members to the outcomes of its pushes.
private struct InFlightPage: Sendable {
    /// The position of the page in the order in which the pages of the turn are recorded, from 0.
    var number = 0
    var page: AudiencePage
    let lease: PageLease
    /// The cursor of the delivery after this page.
    var last: AudienceMember
    var content = DeliveryContent.nothing
    var tally: PageTally
    let unsent = UnsentPushes()
    var startedAt: Timestamp
    var endedAt: Timestamp
    /// False if the page was not sent, because another notification with the same collapse key was being sent to one of
    /// its devices.
    var wasSent = true
}
