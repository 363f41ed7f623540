import MartletHTTP
import MartletModel

/// Brings one delivery to its audience: page after page behind a cursor, then the retries that are due. Between two
/// pages it is the turn of others.
///
/// It can be stopped and begun again anywhere. The cursor says which pages are done, the progress map which members of
/// the page in hand were reached.
struct Deliverer: Sendable {
    let notifications: any NotificationStore & ControlStore
    let deadLetters: any DeadLetterStore
    let devices: any DeviceStore
    let maps: any ProgressMaps
    let hubs: HubDirectory
    let platforms: PushPlatformList
    let lanes: LaneCircuitBreakers
    let board: ControlRegistry
    let controls: SendControls
    var sender: PageSender
    /// One for all that send from the same store.
    var turns = CollapseLocks()
    let services = PushServiceCache()
    let extraPages = ExtraPages()
    var pageBytes = PageBytes()
    let settings: DeliverySettings
    let time: any TimeSource
    let metrics: DeliveryMetrics
    /// Told what an operator should know, in a sentence without secrets.
    let log: @Sendable (String) -> Void

    /// Sends the pages of a turn, or a round of retries.
    func run(_ run: inout DeliveryRun) async -> DeliveryRun.Ending {
        run.beginTurn()
        do throws(StorageError) {
            let ending = try await advance(&run)
            guard ending != .gone, !run.isGone else { return await leave(run) }
            return run.hasProgressed || !ending.asksForTurn(at: time.now) ? ending : .stalled
        } catch {
            if let lane = run.lane { lanes.endProbe(lane) }
            return .failed(error)
        }
    }

    /// Drops everything of a delivery that is gone from the store.
    private func leave(_ run: DeliveryRun) async -> DeliveryRun.Ending {
        if let lane = run.lane { lanes.endProbe(lane) }
        await forget(run.delivery.id, of: run.delivery.notification.sequence)
        return .gone
    }

    private func advance(_ run: inout DeliveryRun) async throws(StorageError) -> DeliveryRun.Ending {
        let delivery = run.delivery
        let hub = delivery.notification.hub
        // First, so that a deletion that begins from here on finds what it is to stop.
        board.begin(delivery.notification.sequence, in: hub)
        defer { board.end(delivery.notification.sequence) }
        switch hubs.presence(of: hub) {
        case .present: break
        case .deleting:
            return .deleting(until: max(delivery.notification.expiresAt, time.now + Self.deletionPatience))
        case .absent: return .gone
        }
        switch step(of: run.progress) {
        case .interrupt: return .interrupted
        case .hold: return .held(until: delivery.notification.expiresAt)
        case .giveUp(let state): return try await giveUp(&run, as: state)
        case .retry:
            var content = takeContent(of: &run)
            defer { run.content = content }
            return try await retry(&run, &content)
        case .fanOut:
            var content = takeContent(of: &run)
            defer { run.content = content }
            // Its pages may take days, in which what is to be tried again must not wait, nor expire.
            if try await isRolloutWithRetryDue(delivery) { return try await retryDue(&run, &content) }
            return try await fanOut(&run, &content)
        }
    }

    /// How long a turn waits, at least, for a deletion to succeed or to fail: both wake it.
    private static let deletionPatience = Duration.seconds(60)

    func step(of progress: DeliveryProgress) -> SendStep {
        let notification = progress.delivery.notification
        return .next(
            isFannedOut: progress.isFannedOut, control: board.control(of: notification.sequence),
            hasExpired: notification.expiresAt <= time.now, isInterrupted: Task.isCancelled)
    }

    /// What stops what is sent of a delivery now.
    func stop(of delivery: Delivery) -> StopSignal? {
        board.signal(of: delivery.notification.sequence)
    }

    private func takeContent(of run: inout DeliveryRun) -> DeliveryContent {
        run.takeContent() ?? sender.content(of: run.delivery, on: platforms[run.delivery.platform])
    }

    /// Only held while something is sent: many deliveries wait at a time, and a map may be an open file.
    /// - Parameter page: What it is asked for: the last page, where no map is there yet, has everybody.
    func map(of delivery: Delivery, _ page: AudiencePage? = nil) throws(StorageError) -> any ProgressMap {
        let count = page.flatMap { $0.isLast ? $0.count : nil }
        return try maps.map(for: delivery.id, through: delivery.lastNumber, expecting: count)
    }

    /// Whom a delivery that ends has reached.
    /// - Parameter page: Its only one, where it has no other, which spares going through the numbers of everybody.
    func reached(
        of delivery: Delivery, _ page: AudiencePage? = nil
    ) throws(StorageError) -> [DeliveredBitmap] {
        if page?.count == 0 { return [] }
        guard let map = try maps.existingMap(for: delivery.id, through: delivery.lastNumber) else { return [] }
        guard let page else { return map.blocks }
        return DeliveredBitmap.blocks(of: page.members.filter(map.contains).map(\.number))
    }

    // MARK: What pages come to

    /// Counts what a step has come to once it is recorded: what was not will be done, and counted, again. Where the
    /// delivery is gone from the store, the turn is its last.
    func record(_ step: DeliveryStep, of run: inout DeliveryRun) async throws(StorageError) {
        if try await notifications.record(step) { run.hasProgressed = true } else { run.isGone = true }
        metrics.addOutcomes(step.counts, on: run.delivery.platform)
    }

    func makeTally(_ delivery: Delivery, areRetries: Bool) -> PageTally {
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
    func conclude(_ tally: inout PageTally, _ lane: SendContext, _ delivery: Delivery) -> Conclusion {
        // What an old credential has come to says nothing of the new one.
        let isCurrent = hubs.credential(for: delivery.platform, of: delivery.notification.hub) == lane.credential
        let record = lanes.record(tally.laneReport, lane, isCurrent: isCurrent, at: time.now)
        raiseAlarms(record, tally, delivery)
        // Of templates another one may do.
        if let outcome = tally.refusesAll, !lane.sendsAnything || !delivery.isOfTemplates {
            lanes.refuse(delivery.id, outcome)
        }
        tally.decideFates(removing: Set(record.gone.map(\.channel)))
        return Conclusion(
            pauses: tally.holds + [record.pause].compactMap(\.self), quarantines: record.quarantines, gone: record.gone)
    }

    /// Acts on what was said of handles, once the step is recorded: a refusal names the registration that it may remove.
    /// Where a kill comes between the two, the next notification finds the handle dead again.
    func apply(
        _ tally: PageTally, _ conclusion: Conclusion, _ delivery: Delivery, _ lane: SendContext
    ) async throws(StorageError) {
        let feedback = sender.feedback(of: tally, gone: conclusion.gone, lane)
        guard !feedback.isEmpty else { return }
        _ = try await devices.apply(feedback, in: delivery.notification.hub, at: time.now)
    }

    /// Tells the operator, once, what needs a look and does not mend itself.
    private func raiseAlarms(_ record: LaneChange, _ tally: PageTally, _ delivery: Delivery) {
        let name = hubs.hub(delivery.notification.hub)?.name ?? ""
        if record.beginsPause, let cause = tally.pauseCause {
            log(
                "Sending from hub '\(name)' to \(delivery.platform) is paused: \(cause.name.rawValue), "
                    + "\(cause.reason). What was accepted is kept and tried again.")
        }
        for (application, isQuarantined) in record.quarantines.sorted(by: { $0.key < $1.key }) {
            let part = application.isEmpty ? "" : " (\(application))"
            log(
                isQuarantined
                    ? "Most devices of hub '\(name)' look gone to \(delivery.platform)\(part), which a wrong credential, "
                        + "topic or environment explains as well: none is removed until sends succeed again."
                    : "Sends from hub '\(name)' to \(delivery.platform)\(part) succeed again: devices that are gone are "
                        + "removed from now on.")
        }
    }

    /// Ends the delivery.
    /// - Parameter state: nil where what it has come to tells.
    func finish(
        _ run: inout DeliveryRun, _ state: NotificationState?
    ) async throws(StorageError) -> DeliveryRun.Ending {
        let delivery = run.delivery
        let final: NotificationState
        if let state {
            final = state
        } else {
            let notification = delivery.notification
            let report = try await notifications.report(notification.id, in: notification.hub)
            final = report?.counts[delivery.platform]?.isEmpty ?? true ? .noTargetFound : .completed
        }
        let step = DeliveryStep(
            delivery: delivery.id, isFannedOut: run.progress.isFannedOut, state: final, endedAt: time.now,
            reached: final == .noTargetFound ? [] : try reached(of: delivery))
        try await record(step, of: &run)
        await forget(delivery.id, of: delivery.notification.sequence)
        return .finished
    }

    /// Drops what is only of use while the delivery goes on. A map that cannot be removed now is removed by the sweep of
    /// the next start.
    func forget(_ delivery: Delivery.ID) {
        lanes.forget(delivery)
        try? maps.remove(delivery)
    }

    /// The same of a notification whose last delivery this may be.
    /// - Parameter notification: Its sequence number; nil where it is not known.
    func forget(_ delivery: Delivery.ID, of notification: Int64?) async {
        forget(delivery)
        guard let notification else { return }
        board.stopMeter(of: notification)
        await controls.forgetIfEnded(notification)
    }

    // MARK: Whether to go on

    enum Readiness {
        case ready(SendContext)
        case paused(until: Timestamp)
    }

    func readiness(of delivery: Delivery) -> Readiness {
        let now = time.now
        let id = delivery.lane
        let entry = lanes.enter(id, at: now, probeDuration: settings.requestTimeout)
        if case .paused(let until) = entry { return .paused(until: until) }
        let credential = hubs.credential(for: id.platform, of: id.hub)
        guard let type = platforms.service(id.platform) else {
            return .ready(SendContext(id, credential, .refused(PageSender.noPushService(for: id.platform))))
        }
        guard let credential else {
            services.forget(id)
            return .ready(
                SendContext(id, nil, .refused(PageSender.noCredential(for: type.descriptor.credentialPlatform))))
        }
        guard let service = try? services.service(type, of: id, credential: credential) else {
            return .paused(until: lanes.pause(id, isProbe: entry == .probe, at: now))
        }
        return .ready(SendContext(id, credential, .by(service), isProbe: entry == .probe))
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
