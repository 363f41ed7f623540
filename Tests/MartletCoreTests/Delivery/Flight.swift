import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization

@testable import MartletCore

/// A transport whose answers are scripted by loft; it remembers what was sent.
final class ScriptedTransport: HTTPTransport {
    typealias Answer = @Sendable (_ loft: String, _ attempt: Int) -> Result<HTTPResponse, TransportError>

    struct Sent: Sendable {
        /// Which of the calls it came with, from 0.
        var batch: Int
        var origin: HTTPOrigin
        var loft: String
        var id: String
        var body: String
        var fields: HTTPFields
        var authorization: String?
        var partition: String
        var connectionLimit: Int
    }

    private let answer: Answer
    private let log = Mutex<[Sent]>([])
    private let batches = Mutex(0)
    private let interruption = Mutex<Interruption?>(nil)
    private let wait = Mutex<(@Sendable () async -> Void)?>(nil)
    private let waiting = Mutex(0)

    private struct Interruption {
        /// The loft whose batch is meant; of none, the next batch is.
        var loft: String?
        /// Whether only the answer to the loft is held back until the work is done.
        var isForLoftAlone = false
        var work: @Sendable () async -> Void
    }

    init(_ answer: @escaping Answer = { _, _ in .success(HTTPResponse(.ok)) }) {
        self.answer = answer
    }

    /// Lets something happen while a batch is under way.
    /// - Parameter loft: A loft that the batch sends to; by default the next batch is meant. Pages that are sent at the
    ///   same time begin in any order.
    func interrupt(at loft: String? = nil, _ work: @escaping @Sendable () async -> Void) {
        interruption.withLock { $0 = Interruption(loft: loft, work: work) }
    }

    /// Lets something happen before one loft is answered, and after the others of its batch were.
    func holdBack(_ loft: String, _ work: @escaping @Sendable () async -> Void) {
        interruption.withLock { $0 = Interruption(loft: loft, isForLoftAlone: true, work: work) }
    }

    /// Lets every batch wait before it is answered.
    func delay(_ wait: @escaping @Sendable () async -> Void) {
        self.wait.withLock { $0 = wait }
    }

    /// The number of batches that wait.
    var waitingCount: Int { waiting.withLock { $0 } }

    private func takeInterruption(of batch: RequestBatch) -> Interruption? {
        interruption.withLock { interruption in
            guard let found = interruption else { return nil }
            let lofts = (0..<batch.count).lazy.map { self.path($0, of: batch) }
            guard found.loft.map({ lofts.contains($0) }) ?? true else { return nil }
            interruption = nil
            return found
        }
    }

    var sent: [Sent] { log.withLock { $0 } }
    var batchCount: Int { batches.withLock { $0 } }
    var lofts: [String] { sent.map(\.loft) }

    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async {
        let interruption = takeInterruption(of: batch)
        if let interruption, !interruption.isForLoftAlone { await interruption.work() }
        if let wait = wait.withLock({ $0 }) {
            waiting.withLock { $0 += 1 }
            await wait()
            waiting.withLock { $0 -= 1 }
        }
        let number = batches.withLock { count in
            defer { count += 1 }
            return count
        }
        let held = interruption.flatMap { $0.isForLoftAlone ? $0.loft : nil }
        let last = (0..<batch.count).filter { path($0, of: batch) == held }
        for index in (0..<batch.count).filter({ !last.contains($0) }) + last {
            if last.first == index { await interruption?.work() }
            let sent = Sent(
                batch: number, origin: batch.shared.origin,
                loft: path(index, of: batch),
                id: batch.withValue(0, of: index) { String(decoding: $0, as: UTF8.self) },
                body: batch.withBody(index) { String(decoding: $0, as: UTF8.self) }, fields: batch.shared.fields,
                authorization: batch.shared.fields["authorization"], partition: batch.shared.settings.partition,
                connectionLimit: batch.shared.settings.connectionLimit)
            let attempt = log.withLock { log in
                log.append(sent)
                return log.count { $0.loft == sent.loft }
            }
            switch answer(sent.loft, attempt) {
            case .success(let response) where response.status == .ok && batch.shared.plainSuccess != .none:
                results(ResultPortion(plainSuccesses: [UInt32(index)]))
            case let result:
                results(ResultPortion(answers: [.init(index: index, result: result)]))
            }
        }
    }

    private func path(_ index: Int, of batch: RequestBatch) -> String {
        batch.withPath(index) { String(decoding: $0, as: UTF8.self) }
    }

    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.unreachable, mayHaveBeenProcessed: false, "no single requests are expected")
    }
}

/// A hub with pigeons, and everything between an accepted notification and the transport.
struct Flight {
    let storage: MemoryStorage
    let time: ManualTimeSource
    let maps: MemoryProgressMaps
    let platforms = PushPlatformList([
        CarrierPigeon.self, HomingPigeon.self, PacedPigeon.self, TokenPigeon.self, MessageInABottle.self,
        ShyPigeon.self,
    ])
    let hubs: HubDirectory
    let registry: DeviceRegistry
    let transport: ScriptedTransport
    let lanes = LaneCircuitBreakers()
    let board = ControlRegistry()
    let controls: SendControls
    let alarm = ScheduleAlarm()
    let metrics = DeliveryMetrics()
    /// What the operator was told.
    let alarms = Alarms()
    var deliverer: Deliverer
    let hub: Hub.ID

    init(
        pageSize: Int = 3, pagesAtOnce: Int = 1, hasCredential: Bool = true, jitter: Double = 0, isShared: Bool = false,
        _ answer: @escaping ScriptedTransport.Answer = { _, _ in .success(HTTPResponse(.ok)) }
    ) async throws {
        (storage, time, maps) = (MemoryStorage(isShared: isShared), ManualTimeSource(), MemoryProgressMaps())
        transport = ScriptedTransport(answer)
        hubs = HubDirectory(store: storage, platforms: platforms, time: time)
        registry = DeviceRegistry(store: storage, platforms: platforms, time: time)
        hub = try await hubs.create("aviary").id
        let settings = DeliverySettings(
            pageSize: pageSize, pagesAtOnce: pagesAtOnce, retry: RetryPolicy(jitter: jitter))
        controls = SendControls(store: storage, board: board, time: time) { _ in }
        deliverer = Self.deliverer(
            storage, maps, hubs, platforms, lanes, board, controls, alarm, transport, settings, time, metrics, alarms)
        if hasCredential { try await giveCredential() }
    }

    /// The same after a kill: what was in memory is forgotten, and what was recorded last may be as well.
    /// - Parameters:
    ///   - storage: What is left on disk.
    ///   - maps: The progress maps of another machine, for a process there; by default those that are left.
    init(_ old: Flight, restartedWith storage: MemoryStorage? = nil, maps: MemoryProgressMaps? = nil) async throws {
        self.storage = storage ?? old.storage
        (time, self.maps, transport) = (old.time, maps ?? old.maps, old.transport)
        hubs = HubDirectory(store: self.storage, platforms: platforms, time: time)
        try await hubs.reload()
        registry = DeviceRegistry(store: self.storage, platforms: platforms, time: time)
        hub = old.hub
        controls = SendControls(store: self.storage, board: board, time: time) { _ in }
        deliverer = Self.deliverer(
            self.storage, self.maps, hubs, platforms, lanes, board, controls, alarm, transport, old.deliverer.settings,
            time,
            metrics, alarms)
        for memory in try await self.storage.persistedLaneStates(at: time.now) {
            lanes.restore(memory)
            for pause in memory.pauses { deliverer.sender.origins.restore(pause, of: memory.lane, at: time.now) }
        }
    }

    private static func deliverer(
        _ storage: MemoryStorage, _ maps: MemoryProgressMaps, _ hubs: HubDirectory, _ platforms: PushPlatformList,
        _ lanes: LaneCircuitBreakers, _ board: ControlRegistry, _ controls: SendControls,
        _ alarm: ScheduleAlarm, _ transport: ScriptedTransport,
        _ settings: DeliverySettings, _ time: ManualTimeSource,
        _ metrics: DeliveryMetrics, _ alarms: Alarms
    ) -> Deliverer {
        Deliverer(
            notifications: storage, deadLetters: storage, devices: storage, maps: maps, hubs: hubs,
            platforms: platforms,
            lanes: lanes, board: board, controls: controls, alarm: alarm,
            sender: PageSender(
                transport: transport,
                authorizations: AuthorizationCache(transport: transport, timeout: settings.requestTimeout, time: time),
                lanes: lanes, origins: OriginCircuitBreakers(), suspectedStale: SuspectedStaleDevices(store: storage),
                paces: SendingRateLimits(time: time),
                messageIDs: MessageIDKey(1, 2),
                requestTimeout: settings.requestTimeout, time: time, metrics: metrics),
            locks: CollapseLocks(), settings: settings, time: time, metrics: metrics,
            log: { [alarms] in alarms.add($0) })
    }

    /// Another deliverer of the same parts.
    func makeDeliverer(
        _ sender: PageSender? = nil, locks: CollapseLocks = CollapseLocks(), pageBytes: PageBytes = PageBytes()
    ) -> Deliverer {
        let lanes = sender?.lanes ?? lanes
        return Deliverer(
            notifications: storage, deadLetters: storage, devices: storage, maps: maps, hubs: hubs,
            platforms: platforms, lanes: lanes, board: board, controls: controls, alarm: alarm,
            sender: sender ?? deliverer.sender,
            locks: locks, pageBytes: pageBytes, settings: deliverer.settings, time: time, metrics: metrics,
            log: { [alarms] in alarms.add($0) })
    }

    func giveCredential() async throws {
        try await hubs.setCredential(Credential(["Whistle": "tweet"]), for: CarrierPigeon.platform, of: "aviary")
    }

    /// Registers lofts `loft1` … under ids `r1` ….
    func register(_ count: Int, tags: [String] = []) async throws {
        for number in 1...count { try await register("loft\(number)", id: "r\(number)", tags: tags) }
    }

    func register(_ loft: String, id: String, tags: [String] = []) async throws {
        _ = try await registry.put(
            id, in: hub, platform: CarrierPigeon.platform, handle: PushHandle(loft), tags: tags.map { try Tag($0) })
    }

    /// Registers a loft with a template.
    func register(
        _ loft: String, id: String, tags: [String] = [], _ template: Template, variables: [String: String] = [:]
    ) async throws {
        let draft = RegistrationDraft(
            platform: CarrierPigeon.platform, handle: PushHandle(loft), handleKey: loft.lowercased(),
            tags: try tags.map { try Tag($0) }, template: template, pushVariables: variables)
        _ = try await storage.apply(.put(draft, id: id, condition: .none), in: hub, at: time.now).get()
    }

    /// Takes a notification for templates, with its delivery to pigeons.
    func acceptTemplate(
        _ properties: String = #"{"msg":"hi"}"#, to expression: String? = nil,
        on platform: PlatformID = CarrierPigeon.platform
    ) async throws -> Delivery {
        let accepted = Mutex<[Delivery]>([])
        let intake = NotificationIntake(
            store: storage, platforms: platforms, time: time,
            accepted: { deliveries in accepted.withLock { $0 = deliveries } })
        _ = try await intake.accept(
            .template(properties: Array(properties.utf8)), to: .audience(try expression.map { try TagExpression($0) }),
            in: hub)
        return accepted.withLock { $0.first { $0.platform == platform } }!
    }

    func accept(
        on platform: PlatformID = CarrierPigeon.platform, to target: Notification.Target = .audience(nil),
        lifetime: Duration = .seconds(86_400), in other: Hub.ID? = nil
    ) async throws -> Delivery {
        let accepted = Mutex<[Delivery]>([])
        let intake = NotificationIntake(
            store: storage, platforms: platforms, time: time, lifetime: lifetime,
            accepted: { deliveries in accepted.withLock { $0 = deliveries } })
        let message = Message(body: Array("hello".utf8))
        _ = try await intake.accept(.native(platform, message), to: target, in: other ?? hub)
        return accepted.withLock { $0[0] }
    }

    /// Accepts a notification that begins later.
    func schedule(to target: Notification.Target, after delay: Duration) async throws -> NotificationID {
        let intake = NotificationIntake(store: storage, platforms: platforms, time: time, accepted: { _ in })
        return try await intake.accept(
            .native(CarrierPigeon.platform, Message(body: Array("hello".utf8))), to: target, in: hub,
            dueAt: time.now + delay)
    }

    /// Runs a delivery from where the store says that it is, page after page.
    func run(_ delivery: Delivery) async throws -> DeliveryRun.Ending {
        let progress = try await storage.unfinished(after: Delivery.ID(rawValue: delivery.id.rawValue - 1), limit: 1)
        var run = DeliveryRun(progress[0])
        while true {
            let ending = await deliverer.run(&run)
            if ending != .yielded { return ending }
        }
    }

    func refusals(_ delivery: Delivery) async throws -> [RefusalRecord] {
        let notification = delivery.notification
        return try await storage.refusals(of: notification.id, in: notification.hub, after: .start, limit: 1000).records
    }

    func report(_ delivery: Delivery) async throws -> DeliveryReport {
        let notification = delivery.notification
        let report = try await storage.report(notification.id, in: notification.hub)!
        return DeliveryReport(
            platform: delivery.platform, state: report.state, startedAt: report.startedAt, endedAt: report.endedAt,
            counts: report.counts[delivery.platform] ?? [:])
    }
}

/// An answer of the pigeons' service.
func answered(_ status: Int, _ fields: HTTPFields = [:]) -> Result<HTTPResponse, TransportError> {
    .success(HTTPResponse(HTTPStatus(status), fields: fields))
}

/// Sentences for the operator, in order.
final class Alarms: Sendable {
    private let sentences = Mutex<[String]>([])

    var all: [String] { sentences.withLock { $0 } }
    func add(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
}
