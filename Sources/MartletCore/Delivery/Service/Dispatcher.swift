public import MartletHTTP
public import MartletModel
import Synchronization

/// Delivers accepted notifications. This service runs from the start of the server to its shutdown.
///
/// Deliveries wait in memory up to a limit, and in the store beyond it. A limited number of deliveries is sent at the
/// same time. In its turn (`DeliveryQueue`), a delivery sends some pages. It then waits while other deliveries are
/// sent.
public final class Dispatcher: Sendable {
    /// The counters of delivery since the start of the process.
    public let metrics: DeliveryMetrics
    let store: any NotificationStore & ControlStore & LaneStore
    let ownership: HubOwnership
    let board: ControlRegistry
    let controls: SendControls
    /// Wakes the scheduler that begins parts of notifications.
    let alarm: ScheduleAlarm
    /// Hubs whose credentials have changed, and whose stored pauses must be removed.
    private let reopened = Mutex<Set<Hub.ID>>([])
    /// For each hub that this process sends for, the lowest id of those deliveries that another process has stored and
    /// this process has not read yet.
    let storedElsewhere = Mutex<[Hub.ID: Delivery.ID]>([:])
    private let deliverer: Deliverer
    private let sender: PageSender
    private let hubs: HubDirectory
    private let platforms: PushPlatformList
    private let devices: any DeviceStore
    private let collapseLocks = CollapseLocks()
    private let lanes: LaneCircuitBreakers
    private let origins: OriginCircuitBreakers
    private let settings: DeliverySettings
    let time: any TimeSource
    let queue: Mutex<DeliveryQueue>
    private let wakes: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation
    let log: @Sendable (String) -> Void

    /// - Parameters:
    ///   - alarm: Wakes the scheduler that begins parts of notifications.
    ///   - ownership: The hubs that this process sends for.
    ///   - log: Receives messages for the operator, without secrets.
    public init(
        notifications: any NotificationStore & ControlStore & DeadLetterStore & LaneStore, devices: any DeviceStore,
        maps: any ProgressMaps,
        hubs: HubDirectory,
        platforms: PushPlatformList, transport: any HTTPTransport, messageIDs: MessageIDKey, time: any TimeSource,
        alarm: ScheduleAlarm = ScheduleAlarm(), ownership: HubOwnership = HubOwnership(),
        settings: DeliverySettings = DeliverySettings(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        store = notifications
        self.ownership = ownership
        board = ControlRegistry(lease: ownership.lease)
        self.alarm = alarm
        lanes = LaneCircuitBreakers()
        let metrics = DeliveryMetrics()
        self.metrics = metrics
        let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        (self.wakes, self.wake) = (wakes, wake)
        let origins = OriginCircuitBreakers(released: { wake.yield() })
        self.origins = origins
        let sender = PageSender(
            transport: transport,
            authorizations: AuthorizationCache(
                transport: transport, timeout: settings.requestTimeout, time: time, metrics: metrics),
            lanes: lanes, origins: origins, suspectedStale: SuspectedStaleDevices(store: devices),
            paces: SendingRateLimits(time: time),
            messageIDs: messageIDs, requestTimeout: settings.requestTimeout, time: time, metrics: metrics)
        (self.sender, self.hubs, self.platforms, self.devices) = (sender, hubs, platforms, devices)
        // Roll-outs halt themselves with these controls. The controls wake no deliveries, because a roll-out that halts
        // itself has no sleeping deliveries that must run.
        controls = SendControls(
            store: notifications, board: board, time: time, ownership: ownership, scheduled: { alarm.ring() },
            wake: { _ in })
        deliverer = Deliverer(
            notifications: notifications, deadLetters: notifications, devices: devices, maps: maps, hubs: hubs,
            platforms: platforms, lanes: lanes, board: board, controls: controls, alarm: alarm, sender: sender,
            locks: collapseLocks, ownership: ownership, settings: settings,
            time: time, metrics: metrics, log: log)
        self.settings = settings
        self.time = time
        self.log = log
        queue = Mutex(DeliveryQueue(limits: settings.queue, pageSize: settings.pageSize))
    }

    /// Creates test sends, which use the connections and tokens of this dispatcher and do not wait in its queue.
    public func makeTestSends() -> TestSends {
        TestSends(
            devices: devices, resolver: LaneResolver(hubs: hubs, platforms: platforms), sender: sender, time: time)
    }

    /// Creates dry runs, which apply the rules of real sends and send nothing.
    public func makeDryRuns() -> DryRuns {
        DryRuns(
            devices: devices, notifications: store, platforms: platforms,
            credentials: CredentialChecker(
                resolver: LaneResolver(hubs: hubs, platforms: platforms), transport: sender.transport, time: time),
            time: time)
    }

    /// Creates the controls that pause, resume and cancel notifications.
    public func makeControls() -> SendControls {
        SendControls(
            store: store, board: board, time: time, ownership: ownership, scheduled: { [alarm] in alarm.ring() },
            wake: { [self] deliveries in
                queue.withLock { $0.wake(deliveries) }
                wake.yield()
            })
    }

    /// The number of deliveries in memory, by state; the rest of the backlog is only in the store.
    public var load: DeliveryLoad { queue.withLock(\.load) }

    /// The number of entries for notifications and deliveries in each table of the dispatcher. All numbers are 0 once
    /// every delivery has ended.
    var entryCounts: [String: Int] {
        [
            "queue": queue.withLock(\.entryCount), "held": queue.withLock(\.heldCount), "controls": board.count,
            "under way": board.underWayCount, "refusals": lanes.refusalCount,
            "extra pages": deliverer.extraPages.taken, "shared progress": deliverer.sharedProgress.count,
            "collapse turns": collapseLocks.waitingCount, "probe waits": origins.waitingCount,
        ]
    }

    /// The number of paused lanes, and of paused origins that devices have chosen, by platform. A lane or an origin
    /// that waits for a probe counts as paused.
    public var paused: (lanes: [PlatformID: Int], origins: [PlatformID: Int]) {
        (lanes.pausedCounts, origins.pausedCounts)
    }

    /// The paused lanes, and the number of paused origins in each lane that has any. A lane or an origin that waits for
    /// a probe counts as paused.
    public var pausedByLane: (lanes: [LaneID], origins: [LaneID: Int]) {
        (lanes.paused, origins.pausedCountsByLane)
    }

    /// The paused lanes whose credential is refused by the push service, or is not usable. Nothing is sent in them
    /// until the credential is replaced.
    public var refusedCredentials: [LaneID] { lanes.refusedCredentials }

    /// The origins to which no push gets through at present.
    public var failingServices: [ServiceFailure] { sender.failing.all }

    /// Returns when the pause of a lane ends; nil if the lane is open.
    public func pauseEnd(of lane: LaneID) -> Timestamp? { lanes.pauseEnd(of: lane, at: time.now) }

    /// Returns the pauses of those origins of a lane that are paused or wait for a probe.
    public func originPauses(of lane: LaneID) -> [LanePause] { origins.pauses(of: lane, at: time.now) }

    /// The number of lanes in memory, of origins in memory, and of lanes whose suspected stale devices are in memory.
    var known: (lanes: Int, origins: Int, suspectedStale: Int) {
        (lanes.count, origins.count, sender.suspectedStale.count)
    }

    /// The number of notifications that are paused by a request or halted by their roll-out.
    public var heldCounts: [NotificationControl: Int] { board.heldCounts }

    /// Adds deliveries that have just been stored. If another process sends for the hub of a delivery, the delivery is
    /// left to that process. Never waits.
    public func enqueue(_ deliveries: [Delivery]) {
        queue.withLock { queue in
            for delivery in deliveries where ownership.owns(delivery.lane.hub) {
                queue.add(DeliveryProgress(delivery))
            }
        }
        wake.yield()
    }

    /// Continues the deliveries that wait for new credentials of a hub. Called when the credentials have changed.
    public func credentialsChanged(in hub: Hub.ID) {
        guard ownership.owns(hub) else { return }
        lanes.open(hub)
        sender.failing.forget(hub)
        reopened.withLock { _ = $0.insert(hub) }
        wake.yield()
    }

    /// Reacts to the deletion of a hub: when it begins, sending stops; when it succeeds or fails, the waiting
    /// deliveries wake and check whether the hub is gone.
    public func deletionChanged(of hub: Hub.ID) {
        switch hubs.presence(of: hub) {
        case .deleting: return board.stop(hub)
        case .present: break
        case .absent:
            // If another process has deleted the hub, this process may not have heard that the deletion began.
            board.stop(hub)
            forget(hub)
            forgetAuthorizations(of: hub)
        }
        hurry(hub)
    }

    /// Removes from memory all data about a hub that was deleted, or for which another process sends now. The
    /// authorizations of the hub stay.
    func forget(_ hub: Hub.ID) {
        board.forget { $0 == hub }
        lanes.forget(hub)
        sender.failing.forget(hub)
        origins.forget(hub)
        sender.suspectedStale.forget(hub)
        deliverer.resolver.services?.forget(hub)
        deliverer.sharedProgress.forget(hub)
        reopened.withLock { _ = $0.remove(hub) }
    }

    /// Removes the authorizations of a hub that was deleted. This function is not called for a hub for which only
    /// another process sends now. In that case the connections to the push service stay open, and the authorizations
    /// must stay too: APNs refuses a second token within twenty minutes.
    private func forgetAuthorizations(of hub: Hub.ID) {
        Task { [sender] in await sender.authorizations.forget(hub) }
    }

    // MARK: Running

    /// Delivers until the task is cancelled; then lets the pages in progress end.
    public func run() async {
        await recall()
        await loadControls()
        let timer = DeliveryTimer(time: time) { [wake] in wake.yield() }
        await withDiscardingTaskGroup { group in
            var clock = ClockWatch()
            wake.yield()
            for await _ in wakes {
                let now = time.now
                if let amount = clock.setBack(at: now) { group.addTask { await self.clockWasSetBack(by: amount) } }
                start(in: &group, timer, asOf: now)
            }
            timer.cancel()
        }
    }

    /// Loads the controls of paused, halted and canceled notifications, before anything is sent.
    private func loadControls() async {
        while !Task.isCancelled {
            do throws(StorageError) {
                return try await controls.load()
            } catch {
                log("What is paused or canceled could not be read: \(error)")
                try? await time.sleep(until: time.now + .seconds(1))
            }
        }
    }

    /// The number of quarantines on each platform.
    public var quarantines: [PlatformID: Int] { lanes.quarantines }

    /// The number of quarantines in each lane that has any.
    public var quarantinesByLane: [LaneID: Int] { lanes.quarantinesByLane }

    /// Restores the pauses and quarantines of the previous process, before anything is sent.
    private func recall() async {
        while !Task.isCancelled {
            do throws(StorageError) {
                let now = time.now
                for memory in try await store.persistedLaneStates(at: now) where ownership.owns(memory.lane.hub) {
                    restore(memory, at: now)
                }
                return
            } catch {
                log("The pauses of push services could not be read: \(error)")
                try? await time.sleep(until: time.now + .seconds(1))
            }
        }
    }

    func restore(_ stored: PersistedLaneState, at now: Timestamp) {
        let memory = stored.limitingPauses(to: now + settings.retry.longestWait)
        lanes.restore(memory)
        for pause in memory.pauses { origins.restore(pause, of: memory.lane, at: now) }
    }

    /// The maximum number of retries that are made due in one change of the store.
    private static let expediteLimit = 5000

    /// Ends the stored waits of hubs whose credentials have changed: the pauses of their lanes, and the waits of
    /// devices whose push service has refused the old credential. Waits for other reasons stay.
    private func endWaitsForCredentials() async {
        let hubs = reopened.withLock { reopened in
            defer { reopened = [] }
            return reopened
        }
        for hub in hubs {
            do throws(StorageError) {
                try await store.forgetPauses(of: hub)
                let now = time.now
                var count = Self.expediteLimit
                while count == Self.expediteLimit {
                    count = try await store.expediteRetries(
                        after: .invalidCredentials, in: hub, at: now, limit: Self.expediteLimit)
                }
                // The deliveries are woken only after the store has changed. Otherwise they would find their old waits.
                hurry(hub)
            } catch {
                log("The waits of a hub whose credentials have changed could not be ended: \(error)")
                hurry(hub)
                try? await time.sleep(until: time.now + .seconds(1))
                reopened.withLock { _ = $0.insert(hub) }
                wake.yield()
            }
        }
    }

    /// Lets deliveries that wait for retries look whether their devices are gone, so that a delivery without devices
    /// ends and leaves the backlog before its retries are due. Called every minute. Each call lets the next deliveries
    /// look. The removal of a device does not look for the deliveries that wait for it, so it stays cheap.
    public func lookForGoneDevices() {
        queue.withLock { $0.look(beyond: time.now + Self.lookInterval, limit: Self.lookLimit) }
        wake.yield()
    }

    /// Retries that are due earlier than this look by themselves.
    private static let lookInterval = Duration.seconds(60)
    /// The maximum number of deliveries that look at once.
    private static let lookLimit = 1000

    func hurry(_ hub: Hub.ID) {
        queue.withLock { $0.hurry(hub) }
        wake.yield()
    }

    /// Starts the turns that may start now, and sets the timer for the next one.
    /// - Parameter reading: The reading of the clock with which the caller has looked for a step back.
    private func start(in group: inout DiscardingTaskGroup, _ timer: DeliveryTimer, asOf reading: Timestamp) {
        if !reopened.withLock(\.isEmpty) { group.addTask { await self.endWaitsForCredentials() } }
        // If the lease has ended, nothing is started. The renewal of the lease wakes this loop again.
        if let lease = ownership.lease {
            if !storedElsewhere.withLock(\.isEmpty) { group.addTask { await self.readStoredElsewhere() } }
            if lease.hasEnded { return }
        }
        let released = origins.takeReleased()
        if !released.isEmpty { queue.withLock { $0.wake(released) } }
        if let after = queue.withLock({ $0.wantsMore(at: time.now) }) {
            group.addTask { await self.readStore(after: after) }
        }
        while true {
            switch queue.withLock({ $0.next(at: time.now) }) {
            case .deliver(let run, let kind):
                group.addTask(priority: kind.priority) { await self.deliver(run) }
            case .resume(let id, let kind):
                group.addTask(priority: kind.priority) { await self.resume(id) }
            case .wait(let until):
                timer.set(until, asOf: reading)
                return
            }
        }
    }

    /// Wakes every delivery, so that it compares its times with the new clock. Pages in progress may still record
    /// retries with times of the old clock. So this function waits until these pages have ended, and then wakes every
    /// delivery once more. `PageSender` sends a page in at most three batches one after another. Each batch takes at
    /// most twice the request timeout.
    private func clockWasSetBack(by amount: Duration) async {
        log("The clock was set back by \(amount.components.seconds) seconds: what waits is looked at again.")
        await expedite(by: amount)
        guard (try? await Task.sleep(for: settings.requestTimeout * 7)) != nil else { return }
        await expedite(by: amount)
    }

    private func expedite(by amount: Duration) async {
        do throws(StorageError) {
            try await store.expediteRetries(beyond: time.now + settings.retry.longestWait, by: amount)
        } catch {
            log("Retries that lie too far ahead stay as they are: \(error)")
        }
        queue.withLock { $0.wakeAll() }
        wake.yield()
    }

    private func deliver(_ start: DeliveryRun) async {
        var run = start
        let ending = await deliverer.run(&run)
        let lane = run.delivery.lane
        if let newer = run.newer { await advance(newer) }
        if ending == .yielded {
            queue.withLock { $0.yield(run) }
        } else {
            end(run.delivery.id, sent: run.sent, ending, of: run.delivery.notification)
            // The turn may have stored data in memory about its hub after the hub was deleted, so this data is removed
            // again.
            if ending == .gone, hubs.presence(of: lane.hub) == .absent {
                forget(lane.hub)
                forgetAuthorizations(of: lane.hub)
            }
            if !ownership.owns(lane.hub) { forget(lane.hub) }
        }
        if lanes.isOpen(lane) { queue.withLock { $0.release(lane) } }
        wake.yield()
    }

    /// Moves a delivery that replaces older deliveries ahead of all others in its lane, even if it is only in the
    /// store.
    private func advance(_ id: Delivery.ID) async {
        guard queue.withLock({ !$0.advance(id) && $0.isLeftToStore(id) }) else { return }
        do throws(StorageError) {
            let found = try await store.unfinished(after: Delivery.ID(rawValue: id.rawValue - 1), limit: 1).first
            if let found, found.delivery.id == id { queue.withLock { $0.advance(found) } }
        } catch {
            // The failure does no harm: the delivery is sent later, in its normal turn.
            log("A newer notification could not be brought forward: \(error)")
        }
    }

    /// Runs the turn of a delivery that is known to the queue only by its id. Reads the delivery from the store first.
    /// If the delivery has a final state by now, or its hub was deleted, removes it from the queue instead.
    private func resume(_ id: Delivery.ID) async {
        let looksForGone = queue.withLock { $0.takeLook(id) }
        do throws(StorageError) {
            let found = try await store.unfinished(after: Delivery.ID(rawValue: id.rawValue - 1), limit: 1).first
            guard let found, found.delivery.id == id else {
                await deliverer.forget(id, of: queue.withLock { $0.notification(of: id) })
                return end(id, .gone)
            }
            var run = DeliveryRun(found)
            run.looksForGone = looksForGone
            await deliver(run)
        } catch {
            end(id, .failed(error))
        }
    }

    /// Ends the turn of a delivery in the queue.
    /// - Parameter notification: The notification of the delivery; nil if it is not known.
    private func end(
        _ id: Delivery.ID, sent: Int = 0, _ ending: DeliveryRun.Ending, of notification: Notification? = nil
    ) {
        if case .failed(let error) = ending { log("A delivery was put off: \(error)") }
        let now = time.now
        queue.withLock { queue in
            // At the end of the turn, the control may have changed, or a probe may have ended. That did not wake the
            // delivery, because the delivery was not asleep yet. So both are checked here, and the delivery gets another
            // turn if its ending is outdated.
            let control = notification.map { board.control(of: $0.sequence) } ?? .running
            let presence = notification.map { hubs.presence(of: $0.hub) } ?? .present
            let isOutdated = ending.isOutdated(by: control, presence) || ending.isProbing && !origins.isWaiting(id)
            queue.end(id, sent: sent, isOutdated ? .yielded : ending, at: now)
        }
        wake.yield()
    }

    /// The maximum number of unfinished deliveries that are read from the store at a time.
    static let portion = 1000

    /// Fills the queue from the store if the queue does not have all unfinished deliveries.
    private func readStore(after id: Delivery.ID) async {
        do throws(StorageError) {
            let found = try await store.unfinished(after: id, limit: Self.portion)
            // The store may give a hub to this process before `own` is called. The deliveries of that hub are left out
            // here; `own` makes the queue read them again.
            let own = found.filter { ownership.owns($0.delivery.lane.hub) }
            queue.withLock { $0.fill(own, isAll: found.count < Self.portion, through: found.last?.delivery.id) }
        } catch {
            log("Unfinished deliveries could not be read: \(error)")
            queue.withLock { $0.postponeFilling(until: time.now + .seconds(1)) }
        }
        wake.yield()
    }
}

extension DeliveryQueue.Kind {
    /// The priority of the task that runs a turn. First pages may be short and urgent, so they have priority over the
    /// further pages of long deliveries.
    fileprivate var priority: TaskPriority {
        switch self {
        case .firstPage: .high
        case .furtherPage: .low
        }
    }
}
