import MartletModel

/// Brings one delivery to its audience: page after page behind a cursor, then the retries that are due. Between two
/// pages it is the turn of others.
///
/// It can be stopped and begun again anywhere. The cursor says which pages are done, the progress map which members of
/// the page in hand were reached.
struct Deliverer: Sendable {
    /// How a delivery ended, or why it stopped before its end.
    enum Ending: Sendable, Equatable {
        case finished
        /// A page, or a round of retries, is done and there may be more: the others' turn.
        case yielded
        /// Nothing to do before this moment, when a retry is due.
        case waiting(until: Timestamp)
        /// Its lane is paused until this moment, or the message expires then.
        case paused(LaneID, until: Timestamp)
        /// The server is shutting down.
        case interrupted
        /// Storage failed; what was not recorded will be done again.
        case failed(StorageError)
    }

    let notifications: any NotificationStore
    let letters: any DeadLetterStore
    let devices: any DeviceStore
    let maps: any ProgressMaps
    let hubs: HubDirectory
    let platforms: PushPlatformList
    let lanes: LaneBoard
    var sender: PageSender
    /// One for all that send from the same store.
    var turns = CollapseTurns()
    let settings: DeliverySettings
    let time: any TimeSource
    let metrics: DeliveryMetrics
    /// Told what an operator should know, in a sentence without secrets.
    let log: @Sendable (String) -> Void

    /// Sends one page, or a round of retries.
    func run(_ course: inout DeliveryCourse) async -> Ending {
        do throws(StorageError) {
            return try await advance(&course)
        } catch {
            return .failed(error)
        }
    }

    private func advance(_ course: inout DeliveryCourse) async throws(StorageError) -> Ending {
        let delivery = course.delivery
        course.sent = 0
        var content = course.takeContent() ?? sender.content(of: delivery, on: platforms[delivery.platform])
        defer { course.content = content }
        guard !course.progress.isFannedOut else { return try await retry(&course, &content) }
        switch try await readiness(of: delivery, after: course.lane) {
        case .expired: return try await finish(course.progress, .abandoned)
        case .paused(let until):
            if try await isForNobody(course.progress) { return try await finish(course.progress, .noTargetFound) }
            return .paused(delivery.lane, until: min(until, delivery.notification.expiresAt))
        case .interrupted: return .interrupted
        case .ready(let lane):
            course.lane = lane
            try await fanOut(&course, &content, lane)
        }
        guard course.progress.isFannedOut else { return .yielded }
        if course.progress.state.isFinal {
            forget(delivery.id)
            return .finished
        }
        return try await untilNextRetry(course.progress)
    }

    // MARK: Fan-out

    private func fanOut(
        _ course: inout DeliveryCourse, _ content: inout DeliveryContent, _ lane: ReadyLane
    ) async throws(StorageError) {
        var progress = course.progress
        let delivery = progress.delivery
        let started = time.now
        let (page, last) = try await nextPage(progress, limit: pageLimit(of: course, lane))
        var tally = makeTally(delivery, lane, areRetries: false)
        tally.addSkipped(page.skipped)
        if page.count > 0 {
            let map = try map(of: delivery)
            let places = page.members.indices.filter { !map.contains(page.members[$0]) }
            tally.addReached(page.count - places.count)
            if let outcome = lanes.refusal(of: delivery.id) {
                tally.addUnsent(places.count, outcome)
            } else {
                let job = PageSender.Job(delivery, lane, page: page, map: map)
                guard try await sendInTurn(job, &content, places: places, tally: &tally) else { return }
            }
        }
        let conclusion = conclude(&tally, lane, delivery)
        course.note(page, hasRetries: !tally.retries.isEmpty)
        let isFirst = progress.state == .enqueued
        let isOnePage = course.knowsAll && progress.cursor == .none
        progress.state = (page.isLast ? course.final : nil) ?? .processing
        progress.cursor = last
        progress.isFannedOut = page.isLast
        var step = DeliveryStep(delivery.id, tally, cursor: progress.cursor, isFannedOut: page.isLast)
        step.state = progress.state
        step.startedAt = isFirst ? started : nil
        let ended = time.now
        step.range = RangeRecord(page, through: last, tally, startedAt: started, endedAt: ended)
        if progress.state.isFinal {
            step.endedAt = ended
            step.reached = try reached(of: delivery, isOnePage ? page : nil)
        }
        step.add(conclusion)
        try await record(step, of: delivery)
        course.progress = progress
        try await apply(tally, conclusion, delivery, lane)
    }

    private func pageLimit(of course: DeliveryCourse, _ lane: ReadyLane) -> Int {
        if lane.isProbe { return LaneBoard.probeSize }
        return course.hasBegun ? settings.pageSize : min(settings.firstPageSize, settings.pageSize)
    }

    /// - Returns: The page behind the cursor, and where the cursor stands when it is done with.
    private func nextPage(
        _ progress: DeliveryProgress, limit: Int
    ) async throws(StorageError) -> (AudiencePage, last: AudienceMember) {
        let delivery = progress.delivery
        if delivery.notification.resend != nil {
            let dead = try await letters.resendMembers(of: delivery, after: progress.cursor, limit: limit)
            var page = try await page(of: dead.members, delivery)
            page.isLast = dead.isLast
            return (page, dead.last)
        }
        let page: AudiencePage =
            switch delivery.notification.target {
            case .direct(let handles):
                AudiencePage(of: handles, after: progress.cursor, limit: limit)
            case .audience(let expression):
                try await devices.audience(
                    AudienceQuery(of: delivery, expression, after: progress.cursor, limit: limit, now: time.now))
            }
        return (page, page.members.last ?? progress.cursor)
    }

    /// Whether there is no device to wait for: most platforms of a template notification have none.
    private func isForNobody(_ progress: DeliveryProgress) async throws(StorageError) -> Bool {
        guard progress.cursor == .none else { return false }
        let (page, _) = try await nextPage(progress, limit: 1)
        return page.count == 0 && page.skipped == 0 && page.isLast
    }

    /// Only held while something is sent: many deliveries wait at a time, and a map is an open file.
    func map(of delivery: Delivery) throws(StorageError) -> any ProgressMap {
        try maps.map(for: delivery.id, through: delivery.lastNumber)
    }

    /// Whom a delivery that ends has reached.
    /// - Parameter page: Its only one, where it has no other, which spares going through the numbers of everybody.
    private func reached(
        of delivery: Delivery, _ page: AudiencePage? = nil
    ) throws(StorageError) -> [ReachedBlock] {
        if page?.count == 0 { return [] }
        let map = try map(of: delivery)
        guard let page else { return map.blocks }
        return ReachedBlock.blocks(of: page.members.filter(map.contains).map(\.number))
    }

    // MARK: What pages come to

    /// Counts what a step has come to once it is recorded: what was not will be done, and counted, again.
    func record(_ step: DeliveryStep, of delivery: Delivery) async throws(StorageError) {
        try await notifications.record(step)
        metrics.addOutcomes(step.counts, on: delivery.platform)
    }

    func makeTally(_ delivery: Delivery, _ lane: ReadyLane, areRetries: Bool) -> PageTally {
        PageTally(
            platform: platforms[delivery.platform], policy: settings.retry, now: time.now,
            expiresAt: delivery.notification.expiresAt, areRetries: areRetries)
    }

    /// What follows from a page for its lane and for handles.
    struct Conclusion {
        var pauses: [LanePause]
        var quarantines: [String: Bool]
        /// Who is believed to be gone.
        var gone: [ChannelFeedback]
    }

    /// Tells the lane how the page went.
    func conclude(_ tally: inout PageTally, _ lane: ReadyLane, _ delivery: Delivery) -> Conclusion {
        // What an old credential has come to says nothing of the new one.
        let isCurrent = hubs.credential(for: delivery.platform, of: delivery.notification.hub) == lane.credential
        let note = lanes.note(tally, lane, isCurrent: isCurrent, at: time.now)
        raiseAlarms(note, tally, delivery)
        // Of templates another one may do.
        if let outcome = tally.refusesAll, !lane.sendsAnything || !delivery.isOfTemplates {
            lanes.refuse(delivery.id, outcome)
        }
        tally.decideFates(removing: Set(note.gone.map(\.channel)))
        return Conclusion(
            pauses: tally.holds + [note.pause].compactMap(\.self), quarantines: note.quarantines, gone: note.gone)
    }

    /// Acts on what was said of handles, once the step is recorded: a refusal names the registration that it may remove.
    /// Where a kill comes between the two, the next notification finds the handle dead again.
    func apply(
        _ tally: PageTally, _ conclusion: Conclusion, _ delivery: Delivery, _ lane: ReadyLane
    ) async throws(StorageError) {
        let feedback = sender.feedback(of: tally, gone: conclusion.gone, lane)
        guard !feedback.isEmpty else { return }
        _ = try await devices.apply(feedback, in: delivery.notification.hub, at: time.now)
    }

    /// Tells the operator, once, what needs a look and does not mend itself.
    private func raiseAlarms(_ note: LaneNote, _ tally: PageTally, _ delivery: Delivery) {
        let name = hubs.hub(delivery.notification.hub)?.name ?? ""
        if note.beginsPause, let cause = tally.pauseCause {
            log(
                "Sending from hub '\(name)' to \(delivery.platform) is paused: \(cause.name.rawValue), "
                    + "\(cause.reason). What was accepted is kept and tried again.")
        }
        for (application, isQuarantined) in note.quarantines.sorted(by: { $0.key < $1.key }) {
            let part = application.isEmpty ? "" : " (\(application))"
            log(
                isQuarantined
                    ? "Most devices of hub '\(name)' look gone to \(delivery.platform)\(part), which a wrong credential, "
                        + "topic or environment explains as well: none is removed until sends succeed again."
                    : "Sends from hub '\(name)' to \(delivery.platform)\(part) succeed again: devices that are gone are "
                        + "removed from now on.")
        }
    }

    /// Ends the delivery. Retries that are left when it expires are given up, each counted.
    func finish(
        _ progress: DeliveryProgress, _ state: NotificationState?
    ) async throws(StorageError) -> Ending {
        let delivery = progress.delivery
        if state == .abandoned {
            while try await giveUpRetries(progress) {
                if Task.isCancelled { return .interrupted }
            }
        }
        let final: NotificationState
        if let state {
            final = state
        } else {
            let notification = delivery.notification
            let report = try await notifications.report(notification.id, in: notification.hub)
            final = report?.counts[delivery.platform]?.isEmpty ?? true ? .noTargetFound : .completed
        }
        let step = DeliveryStep(
            delivery: delivery.id, isFannedOut: progress.isFannedOut, state: final, endedAt: time.now,
            reached: final == .noTargetFound ? [] : try reached(of: delivery))
        try await record(step, of: delivery)
        forget(delivery.id)
        return .finished
    }

    /// Drops what is only of use while the delivery goes on. A map that cannot be removed now is removed by the sweep of
    /// the next start.
    func forget(_ delivery: Delivery.ID) {
        lanes.forget(delivery)
        try? maps.remove(delivery)
    }

    // MARK: Whether to go on

    enum Readiness {
        case ready(ReadyLane)
        case paused(until: Timestamp)
        case expired
        case interrupted
    }

    /// - Parameter last: What the page before was sent with: reading a credential costs as much as hundreds of pushes.
    func readiness(
        of delivery: Delivery, after last: ReadyLane? = nil
    ) async throws(StorageError) -> Readiness {
        let now = time.now
        if Task.isCancelled { return .interrupted }
        if delivery.notification.expiresAt <= now { return .expired }
        let id = delivery.lane
        let entry = lanes.enter(id, at: now, probeDuration: settings.requestTimeout)
        if case .paused(let until) = entry { return .paused(until: until) }
        let credential = hubs.credential(for: id.platform, of: id.hub)
        if var last, last.credential == credential {
            last.isProbe = entry == .probe
            return .ready(last)
        }
        guard let type = platforms.service(id.platform) else {
            return .ready(ReadyLane(id, credential, .refused(PageSender.noPushService(for: id.platform))))
        }
        guard let credential else {
            return .ready(
                ReadyLane(id, nil, .refused(PageSender.noCredential(for: type.descriptor.credentialPlatform))))
        }
        guard let service = try? type.init(credential: credential) else {
            return .paused(until: lanes.pause(id, at: now))
        }
        return .ready(ReadyLane(id, credential, .by(service), isProbe: entry == .probe))
    }
}

/// A lane that may send now, with what it sends with.
struct ReadyLane: Sendable {
    enum Sending: Sendable {
        case by(any PushService)
        /// There is nothing to send with: what every push comes to.
        case refused(Outcome)
    }

    var id: LaneID
    /// nil where the hub has none.
    var credential: Credential?
    var sending: Sending
    /// The lane comes out of a pause: a few pushes of this delivery show whether it is well again.
    var isProbe: Bool

    init(_ id: LaneID, _ credential: Credential?, _ sending: Sending, isProbe: Bool = false) {
        self.id = id
        self.credential = credential
        self.sending = sending
        self.isProbe = isProbe
    }

    var sendsAnything: Bool {
        if case .by = sending { true } else { false }
    }
}

extension DeliveryStep {
    /// What a page, or a round of retries, has come to.
    init(_ delivery: Delivery.ID, _ tally: PageTally, cursor: AudienceMember?, isFannedOut: Bool) {
        self.init(
            delivery: delivery, cursor: cursor, isFannedOut: isFannedOut, state: .processing, counts: tally.counts,
            refusals: tally.refusals, retries: tally.retries, settled: tally.settled,
            attempts: tally.attempts)
    }

    /// Adds what is to outlast the process of what the page has changed about its lane.
    mutating func add(_ conclusion: Deliverer.Conclusion) {
        pauses = conclusion.pauses
        quarantines = conclusion.quarantines
    }
}
