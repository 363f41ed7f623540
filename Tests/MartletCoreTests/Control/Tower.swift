import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization

@testable import MartletCore

/// A server that can be killed and started again on what it has left behind, with a slow push service.
final class Tower {
    private(set) var storage: MemoryStorage
    private(set) var maps = MemoryProgressMaps()
    private(set) var transport: GatedTransport
    private(set) var dispatcher: Dispatcher
    private(set) var controls: SendControls
    let time = ManualTimeSource()
    let platforms = PushPlatformList([CarrierPigeon.self])
    let alarms = Alarms()
    let hub: Hub.ID
    private var hubs: HubDirectory
    private let settings: DeliverySettings
    private let window: Int
    private let ownership: HubOwnership
    private var running: Task<Void, Never>?
    /// What transports of processes that were killed have written.
    private var before: [GatedTransport.Drawn] = []
    private var answeredBefore: [(push: GatedTransport.Drawn, status: HTTPStatus?)] = []

    init(
        devices: Int, window: Int = 4, pageSize: Int = 10, pagesAtOnce: Int? = nil,
        ownership: HubOwnership = HubOwnership(), isShared: Bool = false
    ) async throws {
        storage = MemoryStorage(isShared: isShared)
        self.window = window
        self.ownership = ownership
        var settings = DeliverySettings(
            pageSize: pageSize, firstPageSize: pageSize, queue: QueueLimits(firstPages: 6, furtherPages: 6),
            retry: RetryPolicy(jitter: 0))
        if let pagesAtOnce { settings.pagesAtOnce = pagesAtOnce }
        self.settings = settings
        transport = GatedTransport(window: window)
        hubs = HubDirectory(store: storage, platforms: platforms, time: time)
        hub = try await hubs.create("tower").id
        try await hubs.setCredential(Credential(["Whistle": "tweet"]), for: CarrierPigeon.platform, of: "tower")
        let registry = DeviceRegistry(store: storage, platforms: platforms, time: time)
        for number in 1...max(1, devices) {
            _ = try await registry.put(
                "r\(number)", in: hub, platform: CarrierPigeon.platform, handle: PushHandle("loft\(number)"), tags: [])
        }
        dispatcher = Dispatcher(
            notifications: storage, devices: storage, maps: maps, hubs: hubs, platforms: platforms,
            transport: transport, messageIDs: MessageIDKey(1, 2), time: time)
        controls = dispatcher.makeControls()
        try await start()
    }

    /// Starts a process on what is there.
    func start() async throws {
        // As the server does when it starts, because a kill may come between the end of a delivery and the removal of its
        // map.
        maps.keep(Set(try await storage.unfinished(after: .none, limit: .max).map(\.delivery.id)))
        transport = GatedTransport(window: window)
        hubs = HubDirectory(store: storage, platforms: platforms, time: time)
        try await hubs.reload()
        let dispatcher = Dispatcher(
            notifications: storage, devices: storage, maps: maps, hubs: hubs, platforms: platforms,
            transport: transport, messageIDs: MessageIDKey(1, 2), time: time, ownership: ownership, settings: settings
        ) { [alarms] in alarms.add($0) }
        self.dispatcher = dispatcher
        controls = dispatcher.makeControls()
        running = Task { await dispatcher.run() }
    }

    /// Ends the process as `kill -9` does.
    func kill() async {
        // What is written after this line is written to storage that nobody will read.
        storage = storage.copy()
        maps = maps.copy()
        before += transport.drawn
        answeredBefore += transport.answered
        transport.die()
        running?.cancel()
        await running?.value
    }

    /// Ends the process in order, as SIGTERM does, and starts one on another machine. What was in hand is answered
    /// first. The next process has only the storage.
    func handOver() async throws {
        running?.cancel()
        let isOver = Mutex(false)
        let ending = Task { [running] in
            await running?.value
            isOver.withLock { $0 = true }
        }
        await until {
            transport.answer(100)
            return isOver.withLock(\.self)
        }
        await ending.value
        before += transport.drawn
        answeredBefore += transport.answered
        maps = MemoryProgressMaps()
        try await start()
    }

    func stop() async {
        transport.die()
        running?.cancel()
        await running?.value
    }

    /// Every push that was written, by any process.
    var drawn: [GatedTransport.Drawn] { before + transport.drawn }
    var answered: [(push: GatedTransport.Drawn, status: HTTPStatus?)] { answeredBefore + transport.answered }

    /// Sends to everybody, with the id's text as what is said.
    func accept(
        _ body: String, lifetime: Duration = .seconds(86_400), rollout: Rollout? = nil
    ) async throws -> NotificationID {
        let intake = NotificationIntake(
            store: storage, platforms: platforms, time: time, lifetime: lifetime,
            accepted: { [dispatcher] in dispatcher.enqueue($0) })
        return try await intake.accept(
            .native(CarrierPigeon.platform, Message(body: Array(body.utf8))), to: .audience(nil), in: hub,
            rollout: rollout)
    }

    func status(_ id: NotificationID) async throws -> SendStatus {
        try await storage.status(id, in: hub)!
    }

    func apply(_ wish: ControlRequest, _ id: NotificationID) async throws -> ControlChange {
        try await controls.apply(wish, to: id, in: hub)
    }

    /// Lets other tasks go on until something is so, or the test has reached its time limit.
    func until(_ condition: () async throws -> Bool) async rethrows {
        while try await !condition(), !Task.isCancelled { await Task.yield() }
    }

    /// Answers whatever comes and moves the clock until a notification is over. A timer that is far ahead is for what
    /// expires, which nobody waits for.
    func finish(_ id: NotificationID) async throws {
        try await until {
            transport.answer(100)
            let load = dispatcher.load
            if load.running == 0, load.waiting == 0, let wake = time.nextWake, wake > time.now,
                wake < time.now + .seconds(3600)
            {
                time.advance(to: wake)
            }
            return try await status(id).report.state.isFinal
        }
    }
}
