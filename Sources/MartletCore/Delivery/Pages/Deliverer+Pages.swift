import MartletHTTP
import MartletModel

/// A page of a turn, up to what its pushes have come to.
private struct InFlightPage: Sendable {
    /// As which of its turn it is recorded.
    var number = 0
    var page: AudiencePage
    let lease: PageLease
    /// Where the cursor stands behind it.
    var last: AudienceMember
    var content = DeliveryContent.nothing
    var tally: PageTally
    var startedAt: Timestamp
    var endedAt: Timestamp
    /// Where it was not its turn, nothing was sent.
    var wasItsTurn = true
}

extension Deliverer {
    /// Sends the pages of a turn: one where it is the first, or something has to be looked at behind each.
    /// - Parameter limit: How many members a page may have.
    func sendPages(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent, _ lane: SendContext, limit: Int
    ) async throws(StorageError) {
        guard overlapsPages(of: run, lane) else { return try await sendPage(&run, &content, lane, limit: limit) }
        if let failure = await overlapPages(&run, &content, lane, limit: limit) { throw failure }
    }

    private func sendPage(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent, _ lane: SendContext, limit: Int
    ) async throws(StorageError) {
        let delivery = run.delivery
        var page = try await read(run.progress, lane, limit: limit)
        giveBack(limit - page.page.count, of: delivery)
        swap(&page.content, &content)
        defer { swap(&page.content, &content) }
        try await send(&page, lane, delivery)
        guard page.wasItsTurn else {
            run.recordNewer(page.tally.newer)
            run.hasProgressed = true
            lanes.endProbe(lane)
            return giveBack(page.page.count, of: delivery)
        }
        try await conclude(page, lane, &run)
    }

    // MARK: Several at once

    /// How many pages a turn has at most, so that others have theirs. At its end a turn waits for its last answers with
    /// nothing to send, which over a long way to the service should be rare.
    private static let pagesOfTurn = 64

    private func overlapsPages(of run: DeliveryRun, _ lane: SendContext) -> Bool {
        let notification = run.delivery.notification
        guard settings.pagesAtOnce > 1, run.hasBegun, !lane.isProbe, case .by(let service) = lane.sending else {
            return false
        }
        return service.pace == nil && notification.rollout == nil && notification.collapse == nil
            && notification.resend == nil
    }

    /// While pages wait for their answers the next are read and sent, so that neither the store nor a long way to the
    /// service is waited for. They are recorded one after another: the cursor never passes what is not done with.
    /// - Returns: What the store has failed with.
    private func overlapPages(
        _ run: inout DeliveryRun, _ content: inout DeliveryContent, _ lane: SendContext, limit: Int
    ) async -> StorageError? {
        let delivery = run.delivery
        var contents = [content]
        content = .nothing
        defer { content = contents.last ?? sender.content(of: delivery, on: platforms[delivery.platform]) }
        return await withTaskGroup(of: Result<InFlightPage, StorageError>.self) { group in
            var begun = run.progress
            var (begunCount, endedCount) = (0, 0)
            let pagesAtOnce = PagesAtOnce(
                most: settings.pagesAtOnce, patience: settings.requestTimeout, start: time.now,
                before: run.pageTime)
            var ended: [Int: InFlightPage] = [:]
            defer {
                extraPages.giveBack(max(0, begunCount - endedCount - 1))
                run.pageTime = pagesAtOnce.pageTime(ended: endedCount, at: time.now)
            }
            do throws(StorageError) {
                while true {
                    let most = pagesAtOnce.limit(ended: endedCount + ended.count, at: time.now)
                    while begunCount == 0
                        || !run.isGone
                            && mayBegin(begun, after: begunCount, begunCount - endedCount, atMost: most, lane)
                    {
                        begunCount += 1
                        var page = try await read(begun, lane, limit: limit)
                        page.number = begunCount - 1
                        page.content =
                            contents.popLast() ?? sender.content(of: delivery, on: platforms[delivery.platform])
                        begun.cursor = page.last
                        begun.isFannedOut = page.page.isLast
                        group.addTask { [page] in await sent(page, lane, delivery) }
                    }
                    guard let page = try await group.next()?.get() else { return nil }
                    ended[page.number] = page
                    while let page = ended.removeValue(forKey: endedCount) {
                        try await conclude(page, lane, &run)
                        contents.append(page.content)
                        endedCount += 1
                        if begunCount > endedCount { extraPages.giveBack(1) }
                    }
                }
            } catch {
                await group.waitForAll()
                return error
            }
        }
    }

    /// Whether another page may be begun behind one that is in hand: nothing has happened that the next turn would look at.
    private func mayBegin(
        _ begun: DeliveryProgress, after count: Int, _ inHand: Int, atMost most: Int, _ lane: SendContext
    ) -> Bool {
        let delivery = begun.delivery
        return inHand < most && count < Self.pagesOfTurn && !begun.isFannedOut
            && step(of: begun) == .fanOut && lanes.isOpen(lane.id) && lanes.refusal(of: delivery.id) == nil
            && hubs.credential(for: delivery.platform, of: delivery.notification.hub) == lane.credential
            && (inHand == 0 || pageBytes.hasRoom && extraPages.take(of: settings.extraPages))
    }

    private func sent(
        _ page: InFlightPage, _ lane: SendContext, _ delivery: Delivery
    ) async -> Result<InFlightPage, StorageError> {
        var page = page
        do throws(StorageError) {
            try await send(&page, lane, delivery)
            return .success(page)
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
        let (page, last) = try await nextPage(progress, limit: limit, byteLimit: lease.granted)
        lease.settle(at: page.bytes + page.count * bodyBytes)
        return InFlightPage(
            page: page, lease: lease, last: last, tally: makeTally(progress.delivery, areRetries: false),
            startedAt: started,
            endedAt: started)
    }

    /// What each member of a page takes for a body of its own; 0 where all share one, or it is little.
    private func ownBodyBytes(of delivery: Delivery, _ lane: SendContext, members: Int) -> Int {
        guard case .native(_, let message) = delivery.notification.content,
            message.body.count > PageBytes.least / max(members, 1), case .by(let service) = lane.sending,
            let shared = try? service.shared(
                message, token: nil, expiry: delivery.notification.expiresAt, at: time.now),
            shared.body == nil
        else { return 0 }
        return message.body.count
    }

    private func send(
        _ hand: inout InFlightPage, _ lane: SendContext, _ delivery: Delivery
    ) async throws(StorageError) {
        hand.tally.addSkipped(hand.page.skipped)
        if hand.page.count > 0 {
            let map = try map(of: delivery, hand.page)
            let indices = unreached(in: hand.page, map, tally: &hand.tally)
            let job = PageSender.Job(delivery, lane, page: hand.page, map: map, stop: stop(of: delivery))
            if let outcome = lanes.refusal(of: delivery.id) {
                hand.tally.addUnreached(indices.map { sender.addressee($0, of: job) }, outcome)
            } else {
                hand.wasItsTurn = try await sendInTurn(job, &hand.content, indices: indices, tally: &hand.tally)
            }
        }
        hand.endedAt = time.now
    }

    private func conclude(
        _ hand: InFlightPage, _ lane: SendContext, _ run: inout DeliveryRun
    ) async throws(StorageError) {
        let delivery = run.delivery
        let page = hand.page
        var tally = hand.tally
        tally.settleHeld(isCanceled: board.control(of: delivery.notification.sequence) == .canceled)
        let conclusion = conclude(&tally, lane, delivery)
        run.record(page, hasRetries: !tally.retries.isEmpty)
        run.recordNewer(tally.newer)
        let isOnePage = run.knowsAll && run.progress.cursor == .none
        var progress = run.progress
        var step = pageStep(
            &progress, page, through: hand.last, tally, startedAt: hand.startedAt, endedAt: hand.endedAt)
        if page.count > 0, delivery.notification.rollout != nil { step.sentAt = hand.startedAt }
        if page.isLast, let final = run.final {
            progress.state = final
            step.state = final
            step.endedAt = hand.endedAt
            step.reached = try reached(of: delivery, isOnePage ? page : nil)
        }
        step.add(conclusion)
        try await record(step, of: &run)
        run.progress = progress
        try await apply(tally, conclusion, delivery, lane)
        try await haltIfNeeded(delivery, step.counts)
    }
}
