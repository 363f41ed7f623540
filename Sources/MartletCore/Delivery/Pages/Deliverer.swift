import MartletModel

/// Sends one delivery to its audience: first page by page, starting at the cursor, then the retries that are due. Each
/// call of `run` is one turn of the delivery (`DeliveryQueue`). Between two turns, other deliveries are sent.
///
/// A delivery can be stopped and continued at any point. The cursor shows which pages are done. The progress map shows
/// which members of the page in progress were reached.
struct Deliverer: Sendable {
    let reader: PageReader
    let resolver: LaneResolver
    let sender: PageSender
    let extraPages = ExtraPages()
    let sharedProgress: SharedProgress
    let settings: DeliverySettings
    private let ownership: HubOwnership
    private let board: ControlRegistry
    private let lanes: LaneCircuitBreakers
    private let rollouts: RolloutPacer
    private let recorder: PageRecorder
    private let paging: PageRunner
    private let retrying: RetryRunner
    private let abandoning: AbandonRunner
    private let time: any TimeSource

    /// - Parameters:
    ///   - locks: The collapse locks, which all senders of one store must share.
    ///   - log: Receives messages for the operator, without secrets.
    init(
        notifications: any NotificationStore & ControlStore, deadLetters: any DeadLetterStore, devices: any DeviceStore,
        maps: any ProgressMaps, hubs: HubDirectory, platforms: PushPlatformList, lanes: LaneCircuitBreakers,
        board: ControlRegistry, controls: SendControls, alarm: ScheduleAlarm, sender: PageSender, locks: CollapseLocks,
        pageBytes: PageBytes = PageBytes(), ownership: HubOwnership = HubOwnership(), settings: DeliverySettings,
        time: any TimeSource, metrics: DeliveryMetrics,
        log: @escaping @Sendable (String) -> Void
    ) {
        let reader = PageReader(
            notifications: notifications, deadLetters: deadLetters, devices: devices, maps: maps,
            messageIDs: sender.messageIDs, time: time)
        sharedProgress = SharedProgress(store: notifications.reachedStore, maps: maps, time: time)
        let resolver = LaneResolver(hubs: hubs, platforms: platforms, services: PushServiceCache())
        let rollouts = RolloutPacer(
            notifications: notifications, devices: devices, hubs: hubs, board: board, controls: controls,
            messageIDs: sender.messageIDs, alarm: alarm, time: time, log: log)
        let recorder = PageRecorder(
            reader: reader, sharedProgress: sharedProgress, resolver: resolver, lanes: lanes, rollouts: rollouts,
            sender: sender, retry: settings.retry, time: time, metrics: metrics, log: log)
        let collapseSender = CollapseSender(
            notifications: notifications, reader: reader, sender: sender, locks: locks, time: time)
        paging = PageRunner(
            reader: reader, resolver: resolver, lanes: lanes, rollouts: rollouts, sender: sender,
            collapseSender: collapseSender, recorder: recorder, pageBytes: pageBytes, extraPages: extraPages,
            settings: settings, time: time)
        retrying = RetryRunner(
            reader: reader, resolver: resolver, lanes: lanes, rollouts: rollouts, sender: sender,
            collapseSender: collapseSender, recorder: recorder, pageBytes: pageBytes, settings: settings, time: time)
        abandoning = AbandonRunner(reader: reader, recorder: recorder, settings: settings, time: time)
        (self.reader, self.resolver, self.sender, self.settings) = (reader, resolver, sender, settings)
        (self.board, self.lanes, self.rollouts, self.recorder, self.time) = (board, lanes, rollouts, recorder, time)
        self.ownership = ownership
    }

    /// Runs one turn of a delivery: sends pages or a round of retries, or ends a delivery that is canceled or expired.
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

    /// Ends the turn of a delivery that no longer exists in the store, and removes all data about the delivery.
    private func leave(_ run: DeliveryRun) async -> DeliveryRun.Ending {
        if let lane = run.lane { lanes.endProbe(lane) }
        await recorder.forget(run.delivery.id, of: run.delivery.notification.sequence)
        return .gone
    }

    private func advance(_ run: inout DeliveryRun) async throws(StorageError) -> DeliveryRun.Ending {
        let delivery = run.delivery
        let hub = delivery.notification.hub
        // The turn is registered first, so that a deletion of the hub that begins after this point finds the delivery
        // and can stop it.
        board.begin(delivery.notification.sequence, in: hub)
        defer { board.end(delivery.notification.sequence) }
        switch resolver.hubs.presence(of: hub) {
        case .present: break
        case .deleting:
            return .deleting(until: max(delivery.expiresAt, time.now + Self.deletionWait))
        case .absent: return .gone
        }
        // If another process sends for the hub by now, the delivery is left to that process.
        guard ownership.owns(hub) else { return .interrupted }
        let step = board.step(of: run.progress, at: time.now)
        if delivery.part?.side != nil, step == .fanOut || step.givesUp, !run.progress.isFannedOut {
            guard try await rollouts.setThreshold(&run.progress.delivery) else { return .gone }
        }
        if step.sends || step.givesUp { try await sharedProgress.complete(run.progress) }
        switch step {
        case .interrupt: return .interrupted
        case .awaitLease: return .yielded
        case .hold: return .held(until: delivery.expiresAt)
        case .giveUp(let state): return try await abandoning.run(&run, as: state)
        case .retry:
            var content = takeContent(of: &run)
            defer { run.content = content }
            return try await retrying.run(&run, &content)
        case .fanOut:
            var content = takeContent(of: &run)
            defer { run.content = content }
            // In a roll-out, due retries are sent before the next page. The pages of a roll-out may take days, and the
            // retries would otherwise wait for all of them, or expire.
            if try await rollouts.isRetryDue(run.delivery) {
                let ending = try await retrying.runDue(&run, &content)
                // The next page need not wait for the probe of an origin that some retries wait for.
                guard case .probing = ending else { return ending }
            }
            return try await paging.run(&run, &content)
        }
    }

    /// How long a delivery sleeps at least while its hub is being deleted, if the deletion neither succeeds nor fails
    /// earlier.
    private static let deletionWait = Duration.seconds(60)

    private func takeContent(of run: inout DeliveryRun) -> DeliveryContent {
        run.takeContent() ?? sender.content(of: run.delivery, on: resolver.platforms[run.delivery.platform])
    }

    /// Removes from memory all data about a delivery that no longer exists in the store.
    /// - Parameter notification: The sequence number of the delivery's notification; nil if it is not known.
    func forget(_ delivery: Delivery.ID, of notification: Int64?) async {
        await recorder.forget(delivery, of: notification)
    }
}
