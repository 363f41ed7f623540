import MartletBackend
import MartletCore
import MartletCrypto
import MartletHTTP
import MartletHubAPI
import MartletModel
import MartletNetwork
import MartletPush
import MartletStorage

/// The parts of a server behind its listeners, opened on one data directory.
struct Engine: Sendable {
    let loops: EventLoopGroup
    let storage: SQLiteStorage
    let hubs: HubDirectory
    let devices: DeviceRegistry
    let notifications: NotificationIntake
    let users: UserDirectory
    let client: HTTPClient
    let dispatcher: Dispatcher
    let scheduler: Scheduler
    let testSends: TestSends
    let dryRuns: DryRuns
    let controls: SendControls
    let traces: Traces
    let deadLetters: DeadLetters
    let funnels: Funnels
    let jobs: JobRunner
    let log: Log
    /// Signs the URLs of containers and blobs.
    let signer: URLSigner
    let keyRotation: KeyRotation
    let metrics: ServerMetrics
    /// Requests and connections, for the metrics.
    let requests = RequestCount()
    private let retention: Retention
    private let time = SystemTime()
    private let platforms = PushPlatforms.all

    static func open(
        _ configuration: ServerConfiguration, fallbacks: [String: [String: String]]
    ) async throws(ServerError) -> Engine {
        let storage: SQLiteStorage
        let keys: ServerKeys
        do throws(StorageError) {
            keys = try ServerKeys.open(in: configuration.dataDirectory)
            storage = try SQLiteStorage(
                directory: configuration.dataDirectory, sealer: keys,
                diskReserve: configuration.diskReserve ?? DiskRoom.defaultReserve)
        } catch {
            throw ServerError(error.detail)
        }
        do {
            try keys.reload()
            return try await Engine(configuration, storage, keys, fallbacks)
        } catch {
            await storage.close()
            throw ServerError("\(error)")
        }
    }

    private init(
        _ configuration: ServerConfiguration, _ storage: SQLiteStorage, _ keys: ServerKeys,
        _ fallbacks: [String: [String: String]]
    ) async throws {
        let log = Log()
        self.log = log
        self.storage = storage
        retention = Retention(notifications: configuration.notificationRetention)
        keyRotation = KeyRotation(keys: keys, storage: storage)
        signer = try keys.urlSigner()
        loops = try EventLoopGroup(count: configuration.loops)
        client = HTTPClient(loops: loops)
        let credentials = fallbacks.map { (PlatformID(rawValue: $0.key), Credential($0.value)) }
        var standard = DefaultLimits()
        standard.requestRate = configuration.requestRate ?? standard.requestRate
        standard.backlog = configuration.backlogLimit ?? standard.backlog
        hubs = HubDirectory(
            store: storage, platforms: platforms, time: time,
            fallbacks: Dictionary(uniqueKeysWithValues: credentials), standard: standard)
        try await hubs.reload()
        devices = DeviceRegistry(store: storage, platforms: platforms, time: time) { [hubs] in
            hubs.hub($0)?.settings.registrationTTL
        }
        users = UserDirectory(store: storage, time: time)
        let dispatcher = Dispatcher(
            notifications: storage, devices: storage, maps: storage.progressMaps, hubs: hubs, platforms: platforms,
            transport: client, messageIDs: try keys.messageIDKey(), time: time
        ) { log.write(.warning, $0) }
        self.dispatcher = dispatcher
        hubs.onCredentialsChange { dispatcher.credentialsChanged(in: $0) }
        hubs.onDeletion { dispatcher.deletionChanged(of: $0) }
        let scheduler = Scheduler(
            store: storage, time: time, released: { dispatcher.enqueue($0) }, log: { log.write(.warning, $0) })
        self.scheduler = scheduler
        let accepted = AcceptanceCount()
        notifications = NotificationIntake(
            store: storage, platforms: platforms, time: time, backlogLimits: { [hubs] in hubs.backlogLimits(of: $0) },
            accepted: { deliveries in
                accepted.addImmediate()
                dispatcher.enqueue(deliveries)
            },
            scheduled: { _ in
                accepted.addScheduled()
                scheduler.wake()
            })
        metrics = ServerMetrics(
            dispatcher: dispatcher, storage: storage, client: client, loops: loops,
            expiries: CredentialExpiries(hubs: hubs, platforms: platforms), accepted: accepted, requests: requests,
            time: time)
        testSends = dispatcher.makeTestSends()
        dryRuns = dispatcher.makeDryRuns()
        funnels = Funnels(store: storage)
        deadLetters = DeadLetters(store: storage, time: time) { dispatcher.enqueue($0) }
        controls = dispatcher.makeControls()
        traces = Traces(
            store: storage, maps: storage.progressMaps, platforms: platforms, messageIDs: try keys.messageIDKey())
        jobs = JobRunner(
            jobs: storage, devices: storage, containers: storage.containers,
            lines: RegistrationLines(devices: devices, platforms: platforms), time: time
        ) { log.write(.warning, $0) }
        try await jobs.resume()
    }

    /// Removes what is over from the storage, at once and every minute, until the task is cancelled.
    func sweep() async {
        while !Task.isCancelled {
            do throws(StorageError) {
                try await storage.sweep(at: time.now, keeping: retention)
            } catch {
                log.write(.warning, "What is over could not be removed: \(error)")
            }
            try? await time.sleep(until: time.now + Self.sweepInterval)
        }
    }

    /// Seals again what a process before this one left sealed with older keys.
    func finishKeyRotation() async {
        do throws(ServerError) {
            try await keyRotation.finish()
        } catch {
            log.write(.warning, "What older keys have sealed could not be sealed anew: \(error)")
        }
    }

    private static let sweepInterval: Duration = .seconds(60)

    func close() async {
        await client.shutDown()
        await storage.close()
    }

    /// What the listeners answer with.
    func makeHandler(_ configuration: ServerConfiguration) throws(ServerError) -> any HTTPHandler {
        let backend = try makeBackend(configuration)
        let router = makeHubHandler(configuration, callers: .signed)
        let health = HealthAPI {
            do throws(StorageError) {
                try await storage.probe()
                return storage.room.shortage
            } catch {
                return "The storage does not answer: \(error.kind.rawValue)."
            }
        }
        let containers = ContainerAPI(store: storage.containers, signer: signer, time: time)
        let metrics = MetricsAPI(
            metrics: metrics,
            token: try configuration.metricsTokenFile.map { path throws(ServerError) in
                try MetricsToken(file: path)
            })
        let root = RootHandler(
            backend: requests.counting(backend.makeHandler(), .backend), health: requests.counting(health, .health),
            metrics: requests.counting(metrics, .metrics),
            containers: requests.counting(containers.makeHandler(), .containers),
            hubs: requests.counting(router, .hub))
        // Of a certificate that no browser trusts by itself the promise would lock people out.
        let notice = UntrustedProxyNotice(log: log, time: time)
        let forwarded = ForwardedClients(root, proxies: configuration.trustedProxies) { notice.found($0) }
        guard case .files = configuration.tls else { return forwarded }
        return StrictTransport(handler: forwarded)
    }

    private func makeHubHandler(_ configuration: ServerConfiguration, callers: HubCallers) -> Router {
        var router = Router(refuse: HubAPI.refusal(time: time))
        HubAPI(
            hubs: hubs, devices: devices, notifications: notifications, testSends: testSends,
            dryRuns: dryRuns, controls: controls, traces: traces, deadLetters: deadLetters, funnels: funnels,
            jobs: jobs,
            platforms: platforms, signer: signer, address: PublicAddress(configuration.publicURL), time: time,
            callers: callers
        ).addRoutes(to: &router)
        return router
    }

    private func makeBackend(_ configuration: ServerConfiguration) throws(ServerError) -> Backend {
        var settings = BackendSettings(
            policy: RolePolicy(usersMaySend: configuration.usersMaySend),
            payloads: PayloadSettings(
                sizeLimit: configuration.payloadLimit, quota: configuration.payloadQuota,
                sample: configuration.sampleNotification.flatMap { SampleNotification(rawValue: $0.rawValue) }))
        settings.publicOrigin = configuration.publicURL
        if let rate = configuration.userRequestRate { settings.requestRate = RequestRate(perSecond: rate) }
        let identity = try configuration.openIDConnect?.settings()
        let provider = identity.map { [log] identity in
            IdentityProvider(identity, transport: client, time: time) { log.write(.warning, $0) }
        }
        do throws(CryptoError) {
            return try Backend(
                users: users, devices: devices, intake: notifications, keys: storage, payloads: storage,
                bodies: storage.payloadBodies, receipts: storage, sends: storage, platforms: platforms,
                hub: BackendHub(hubs, named: configuration.backendHub), identityProvider: provider, time: time,
                settings: settings)
        } catch {
            throw ServerError("The app backend cannot be started: \(error)")
        }
    }

    func makeAdminHandler(_ configuration: ServerConfiguration, _ endpoint: PublicEndpoint) -> any HTTPHandler {
        let removal = UserRemoval(
            users: users, devices: devices, hub: BackendHub(hubs, named: configuration.backendHub))
        let groups = UserGroups(users: users, devices: devices, hub: BackendHub(hubs, named: configuration.backendHub))
        let containers = ContainerAdministration(
            store: storage.containers, signer: signer, endpoint: endpoint, time: time)
        let api = AdminAPI(
            hubs: hubs, devices: devices, users: users, userRemoval: removal, userGroups: groups, platforms: platforms,
            containers: containers, audit: AuditAdministration(store: storage),
            serverKey: KeyAdministration(rotation: keyRotation),
            limits: LimitAdministration(hubs: hubs, storage: storage), traces: traces,
            deadLetters: deadLetters, funnels: funnels,
            controls: controls,
            backup: BackupAdministration(
                storage: storage, dataDirectory: configuration.dataDirectory, time: time, log: log),
            metrics: metrics, endpoint: endpoint)
        let handler = AdminRootHandler(
            administration: api.makeHandler(), hubs: makeHubHandler(configuration, callers: .administrator))
        return requests.counting(handler, .admin)
    }
}
