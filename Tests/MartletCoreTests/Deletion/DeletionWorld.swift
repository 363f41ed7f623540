import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization

@testable import MartletCore

/// A whole server but for its network: everything that works at deliveries, schedules and jobs of one hub.
final class DeletionWorld: Sendable {
    static let name = "aviary"
    static let devices = 5
    static let user = "user:ann"

    let storage = MemoryStorage()
    let steps = Steps()
    let time = ManualTimeSource()
    let maps = MemoryProgressMaps()
    let containers = MemoryContainers()
    let platforms = PushPlatformList([CarrierPigeon.self])
    let hubs: HubDirectory
    let hub: Hub.ID
    let registry: DeviceRegistry
    let transport: SteppedTransport
    let dispatcher: Dispatcher
    let scheduler: Scheduler
    let jobs: JobRunner
    let controls: SendControls
    let alarms = Alarms()

    init(_ answer: @escaping ScriptedTransport.Answer, pagesAtOnce: Int = 1) async throws {
        let stepped = SteppedStorage(store: storage, steps: steps)
        transport = SteppedTransport(steps: steps, answer)
        hubs = HubDirectory(store: storage, platforms: platforms, time: time)
        hub = try await hubs.create(Self.name).id
        try await hubs.setCredential(Credential(["Whistle": "tweet"]), for: CarrierPigeon.platform, of: Self.name)
        registry = DeviceRegistry(store: storage, platforms: platforms, time: time)
        let settings = DeliverySettings(
            pageSize: 2, firstPageSize: 2, pagesAtOnce: pagesAtOnce,
            queue: QueueLimits(firstPages: 3, furtherPages: 3, waiting: 3, waitingOfAnyHub: 0, held: 2),
            retry: RetryPolicy(jitter: 0))
        let alarms = alarms
        let dispatcher = Dispatcher(
            notifications: stepped, devices: stepped, maps: maps, hubs: hubs, platforms: platforms,
            transport: transport, messageIDs: MessageIDKey(1, 2), time: time, settings: settings
        ) { alarms.add($0) }
        self.dispatcher = dispatcher
        controls = dispatcher.makeControls()
        hubs.onCredentialsChange { dispatcher.credentialsChanged(in: $0) }
        hubs.onDeletion { dispatcher.deletionChanged(of: $0) }
        scheduler = Scheduler(store: stepped, time: time, released: { dispatcher.enqueue($0) })
        jobs = JobRunner(jobs: stepped, devices: stepped, containers: containers, lines: LoftLines(), time: time)
        try await register()
    }

    private func register() async throws {
        for number in 1..<Self.devices {
            let tags = try number % 2 == 0 ? [Tag(Self.user)] : []
            _ = try await registry.put(
                "r\(number)", in: hub, platform: CarrierPigeon.platform, handle: PushHandle("loft\(number)"),
                tags: tags)
            _ = try await storage.apply(
                .put(Self.draft("loft\(number)", Template(body: "$(msg)"), tags), id: "t\(number)", condition: .none),
                in: hub, at: time.now)
        }
        let rows = [
            InstallationRow(slot: "native", registration: Self.draft("loft\(Self.devices)")),
            InstallationRow(slot: "t", registration: Self.draft("loft\(Self.devices)", Template(body: "$(msg)"))),
        ]
        let installation = InstallationDraft(id: "i", document: [], expiresAt: nil, rows: rows)
        _ = try await storage.apply(.put(installation, condition: .none), in: hub, at: time.now)
    }

    static func draft(_ loft: String, _ template: Template? = nil, _ tags: [Tag] = []) -> RegistrationDraft {
        RegistrationDraft(
            platform: CarrierPigeon.platform, handle: PushHandle(loft), handleKey: loft, tags: tags, template: template)
    }

    // MARK: Sending

    @discardableResult
    func send(
        _ content: Notification.Content = .native(CarrierPigeon.platform, Message(body: [1])),
        to target: Notification.Target = .audience(nil), dueIn: Duration? = nil, rollout: Rollout? = nil
    ) async throws -> NotificationID {
        let intake = NotificationIntake(
            store: storage, platforms: platforms, time: time, accepted: { [dispatcher] in dispatcher.enqueue($0) },
            scheduled: { [scheduler] _ in scheduler.wake() })
        return try await intake.accept(
            content, to: target, in: hub, dueAt: dueIn.map { time.now + $0 }, rollout: rollout)
    }

    func begin(_ kind: Job.Kind) async throws {
        guard let container = ContainerName("jobs"), let name = BlobName("in.txt"), let directory = BlobName("out")
        else { throw StorageError(.closed, "bad names") }
        _ = containers.createContainer(container)
        let input = BlobAddress(container, name)
        let upload = try containers.upload(input, .fresh)
        try await upload.write(Array((1...9).map { "new\($0)\n" }.joined().utf8))
        _ = try await upload.commit(.none)
        try await jobs.accept(
            Job(
                id: "1", hub: hub, kind: kind, outputURL: "https://h/out", output: container, directory: directory,
                input: kind == .export ? nil : Job.Input(url: "https://h/in", address: input), createdAt: time.now))
    }

    // MARK: Running

    /// Whether nothing is left to do, now or later.
    func isIdle() async throws -> Bool {
        let load = dispatcher.load
        guard load.running + load.waiting + load.sleeping == 0, jobs.isIdle, maps.count == 0 else { return false }
        guard try await storage.unfinished(after: .none, limit: 1).isEmpty else { return false }
        guard try await storage.unfinishedJobs().isEmpty else { return false }
        return try await storage.nextDue() == nil
    }

    /// For the message of a test that fails.
    private func state() async throws -> String {
        let unfinished = try await storage.unfinished(after: .none, limit: 9).count
        let jobs = try await storage.unfinishedJobs().count
        return
            "\(dispatcher.load), \(dispatcher.entryCounts), \(maps.count) maps, \(unfinished) unfinished deliveries, "
            + "\(jobs) unfinished jobs, idle jobs: \(self.jobs.isIdle), due: \(try await storage.nextDue() as Any)"
    }

    /// Runs everything until nothing is left to do, moving the clock where all wait for it.
    /// - Returns: What keeps on going; nil where it came to its end within so many steps.
    func run(within limit: Int) async throws -> String? {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [dispatcher] in await dispatcher.run() }
            group.addTask { [scheduler] in await scheduler.run() }
            group.addTask { [jobs] in await jobs.run() }
            defer { group.cancelAll() }
            var (quiet, last, waits) = (0, -1, 0)
            while try await !isIdle() {
                await Task.yield()
                let count = steps.count
                if count > limit { return "\(count) steps, load \(dispatcher.load)" }
                if waits > 500 { return "\(waits) waits after \(count) steps, load \(dispatcher.load)" }
                let isMoving = count != last || dispatcher.load.running + dispatcher.load.waiting > 0
                (quiet, last) = (isMoving ? 0 : quiet + 1, count)
                if quiet > 300_000 { return "nothing wakes it after \(count) steps: \(try await state())" }
                guard quiet > 8, let wake = time.nextWake, wake > time.now else { continue }
                time.advance(to: wake)
                (quiet, waits) = (0, waits + 1)
            }
            return nil
        }
    }
}

/// Lines that are lofts.
private struct LoftLines: JobLines {
    let lengthLimit = 64

    func change(_ line: [UInt8], _ kind: Job.Kind, in hub: Hub.ID) throws(JobLineError) -> RegistrationChange {
        let loft = String(decoding: line, as: UTF8.self)
        return .put(DeletionWorld.draft(loft), id: loft, condition: .none)
    }

    func line(_ registration: Registration) -> [UInt8]? { Array(registration.id.utf8) }
}
