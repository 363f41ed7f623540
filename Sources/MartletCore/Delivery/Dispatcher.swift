public import MartletHTTP
import MartletModel
import Synchronization

/// Delivers what was accepted: the service that runs from start to shutdown.
///
/// Deliveries wait in memory up to a limit and in the store beyond it; at most so many run at once.
public final class Dispatcher: Sendable {
    /// What has been counted since the start.
    public let metrics: DeliveryMetrics
    private let store: any NotificationStore
    private let deliverer: Deliverer
    private let lanes: LaneBoard
    private let settings: DeliverySettings
    private let time: any TimeSource
    private let queue: Mutex<DeliveryQueue>
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let log: @Sendable (String) -> Void

    /// - Parameter log: Told what goes wrong, in a sentence without secrets.
    public init(
        notifications: any NotificationStore, devices: any DeviceStore, maps: any ProgressMaps, hubs: HubDirectory,
        platforms: PushPlatformList, transport: any HTTPTransport, messageIDs: MessageIDKey, time: any TimeSource,
        settings: DeliverySettings = DeliverySettings(), log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        store = notifications
        lanes = LaneBoard()
        let metrics = DeliveryMetrics()
        self.metrics = metrics
        let sender = PageSender(
            transport: transport,
            authorizations: AuthorizationCache(
                transport: transport, timeout: settings.requestTimeout, time: time, metrics: metrics),
            paces: Paces(time: time), messageIDs: messageIDs,
            requestTimeout: settings.requestTimeout, time: time, metrics: metrics)
        deliverer = Deliverer(
            notifications: notifications, devices: devices, maps: maps, hubs: hubs, platforms: platforms, lanes: lanes,
            sender: sender, settings: settings, time: time, metrics: metrics, log: log)
        self.settings = settings
        self.time = time
        self.log = log
        queue = Mutex(DeliveryQueue(limit: settings.queueLimit))
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Test sends by the same parts, beside everything that is under way.
    public func makeTestSends() -> TestSends {
        TestSends(
            devices: deliverer.devices, hubs: deliverer.hubs, platforms: deliverer.platforms, sender: deliverer.sender,
            time: time)
    }

    /// What is in memory now; what does not fit in there is left to the store.
    public var load: DeliveryLoad { queue.withLock(\.load) }

    /// Takes deliveries that have just been stored. Never waits.
    public func enqueue(_ deliveries: [Delivery]) {
        queue.withLock { queue in
            for delivery in deliveries { queue.add(DeliveryProgress(delivery)) }
        }
        wake.yield()
    }

    /// A hub's credentials have changed: what waited for them goes on.
    public func credentialsChanged(in hub: Hub.ID) {
        lanes.open(hub)
        queue.withLock { $0.hurry(hub, at: time.now) }
        wake.yield()
    }

    /// Delivers until cancelled; then lets the pages in hand come to their end.
    public func run() async {
        let timer = DeliveryTimer(time: time) { [wake] in wake.yield() }
        await withDiscardingTaskGroup { group in
            wake.yield()
            for await _ in wakes {
                await readStore()
                start(in: &group, timer)
            }
            timer.cancel()
        }
    }

    private func start(in group: inout DiscardingTaskGroup, _ timer: DeliveryTimer) {
        while true {
            let next = queue.withLock { $0.next(limit: settings.concurrentDeliveries, at: time.now) }
            switch next {
            case .deliver(let progress):
                group.addTask { await self.deliver(progress) }
            case .resume(let id, let hub):
                group.addTask { await self.resume(id, in: hub) }
            case .wait(let until):
                timer.set(until)
                return
            }
        }
    }

    private func deliver(_ progress: DeliveryProgress) async {
        var course = DeliveryCourse(progress)
        var ending = Deliverer.Ending.yielded
        while ending == .yielded { ending = await deliverer.run(&course) }
        let lane = progress.delivery.lane
        end(progress.delivery.id, in: lane.hub, ending)
        if lanes.isOpen(lane) { queue.withLock { $0.release(lane, at: time.now) } }
        wake.yield()
    }

    /// Goes on with a delivery that slept; one that is final by now, or whose hub was deleted, is over.
    private func resume(_ id: Delivery.ID, in hub: Hub.ID) async {
        do throws(StorageError) {
            let found = try await store.unfinished(after: Delivery.ID(rawValue: id.rawValue - 1), limit: 1).first
            guard let found, found.delivery.id == id else {
                deliverer.forget(id)
                return end(id, in: hub, .finished)
            }
            await deliver(found)
        } catch {
            end(id, in: hub, .failed(error))
        }
    }

    private func end(_ id: Delivery.ID, in hub: Hub.ID, _ ending: Deliverer.Ending) {
        if case .failed(let error) = ending { log("A delivery was put off: \(error)") }
        queue.withLock { $0.end(id, in: hub, ending, at: time.now) }
        wake.yield()
    }

    /// Fills the queue from the store where it does not hold everything that is unfinished.
    private func readStore() async {
        guard let after = queue.withLock({ $0.wantsMore(at: time.now) }) else { return }
        do throws(StorageError) {
            let found = try await store.unfinished(after: after, limit: settings.queueLimit)
            queue.withLock { $0.fill(found, isAll: found.count < settings.queueLimit) }
        } catch {
            log("Unfinished deliveries could not be read: \(error)")
            queue.withLock { $0.postponeFilling(until: time.now + .seconds(1)) }
        }
    }
}
