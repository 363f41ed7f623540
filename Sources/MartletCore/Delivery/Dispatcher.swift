public import MartletHTTP
import MartletModel
import Synchronization

/// Delivers what was accepted: the service that runs from start to shutdown.
///
/// Notifications wait in memory up to a limit and in the store beyond it; at most so many deliveries run at once.
public final class Dispatcher: Sendable {
    private let store: any NotificationStore
    private let delivery: NotificationDelivery
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
        let sender = PageSender(
            transport: transport, authorizations: AuthorizationCache(), messageIDs: messageIDs,
            requestTimeout: settings.requestTimeout, time: time)
        delivery = NotificationDelivery(
            notifications: notifications, devices: devices, maps: maps, hubs: hubs, platforms: platforms, lanes: lanes,
            sender: sender, settings: settings, time: time, log: log)
        self.settings = settings
        self.time = time
        self.log = log
        queue = Mutex(DeliveryQueue(limit: settings.queueLimit))
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Takes a notification that has just been stored. Never waits.
    public func enqueue(_ notification: Notification) {
        let progress = DeliveryProgress(
            notification: notification, state: .enqueued, cursor: .none, isFannedOut: false)
        queue.withLock { $0.add(progress) }
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
            case .resume(let sequence, let hub):
                group.addTask { await self.resume(sequence, in: hub) }
            case .wait(let until):
                timer.set(until)
                return
            }
        }
    }

    private func deliver(_ progress: DeliveryProgress) async {
        let notification = progress.notification
        let ending = await delivery.run(progress)
        end(notification.sequence, in: notification.hub, ending)
        let lane = LaneID(hub: notification.hub, platform: notification.platform)
        if lanes.isOpen(lane) { queue.withLock { $0.release(lane, at: time.now) } }
        wake.yield()
    }

    /// Goes on with a delivery that slept; one that is final by now, or whose hub was deleted, is over.
    private func resume(_ sequence: Int64, in hub: Hub.ID) async {
        do throws(StorageError) {
            let found = try await store.unfinished(after: sequence - 1, limit: 1).first
            guard let found, found.notification.sequence == sequence else {
                delivery.forget(sequence)
                return end(sequence, in: hub, .finished)
            }
            await deliver(found)
        } catch {
            end(sequence, in: hub, .failed(error))
        }
    }

    private func end(_ sequence: Int64, in hub: Hub.ID, _ ending: NotificationDelivery.Ending) {
        if case .failed(let error) = ending { log("A delivery was put off: \(error)") }
        queue.withLock { $0.end(sequence, in: hub, ending, at: time.now) }
        wake.yield()
    }

    /// Fills the queue from the store where it does not hold everything that is unfinished.
    private func readStore() async {
        guard let after = queue.withLock({ $0.wantsMore(at: time.now) }) else { return }
        do throws(StorageError) {
            let found = try await store.unfinished(after: after, limit: settings.queueLimit)
            queue.withLock { $0.fill(found, isAll: found.count < settings.queueLimit) }
        } catch {
            log("Unfinished notifications could not be read: \(error)")
            queue.withLock { $0.postponeFilling(until: time.now + .seconds(1)) }
        }
    }
}
