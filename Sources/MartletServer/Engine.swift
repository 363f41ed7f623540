import Glibc
import MartletBackend
import MartletConsole
import MartletCore
import MartletCrypto
import MartletHTTP
import MartletHubAPI
import MartletModel
import MartletNetwork
import MartletOpenIDConnect
import MartletPush
import MartletStorage

/// Everything that a server consists of, except its listeners. All parts use the same data directory.
struct Engine: Sendable {
    let loops: EventLoopGroup
    let data: DataStore
    let hubs: HubDirectory
    var storage: any ServerStorage { data.storage }
    /// The hub through which the app backend sends.
    let backendHub: BackendHub
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
    let backups: BackupDirectory
    let log: Log
    let hubMoves: HubMoves
    /// Moves all data of this server to a database; nil if it is in one.
    let servingMove: ServingMove?
    /// Signs the URLs with which clients access storage containers and blobs.
    let signer: URLSigner
    let keyRotation: KeyRotation
    /// This process as a node of a shared database; nil if the data is in the data directory.
    let nodes: NodeService?
    let operators: OperatorDirectory
    /// The identity provider with which operators sign in to the console.
    let consoleProvider: ConsoleProvider
    /// The platforms for which hubs without a credential use the simulator's credential.
    private let simulated: Set<PlatformID>
    /// The key for digests of handles and credentials. The console does not show these values, but their digests can be
    /// compared.
    let digestKey: HMACSHA256
    let metrics: ServerMetrics
    /// Counts the requests and the connections of all listeners, for the metrics.
    let requests = RequestCount()
    /// Limits the log line about failed log-ins to one a minute.
    private let failedLogIns = Reminder(every: .seconds(60))
    let certificateEnd = CertificateEnd()
    let certificateObstacle = CertificateObstacle()
    let requestLog: RequestLog
    private let retention: Retention
    private let backupNotice = SharedBackupNotice()
    let time = ServerTime()
    private let platforms = PushPlatforms.all

    static func open(
        _ configuration: ServerConfiguration, fallbacks: [String: [String: String]]
    ) async throws(ServerError) -> Engine {
        let data: DataStore
        let keys: ServerKeys
        let log = Log(level: configuration.logLevel, format: configuration.logFormat)
        do throws(StorageError) {
            // First, because a key that was made in such a directory, or for such a database, would be another one than
            // that of the data.
            try SQLiteStorage.checkUse(of: configuration.dataDirectory, isOfNode: configuration.database != nil)
            try await DataStore.checkKey(configuration)
            keys = try ServerKeys.open(in: configuration.dataDirectory)
            data = try await DataStore.open(configuration, keys, log)
        } catch {
            throw ServerError(
                error.detail, isOfTakenDirectory: error.kind == .locked && configuration.database == nil)
        }
        do {
            try keys.reload()
            return try await Engine(configuration, data, keys, fallbacks, log)
        } catch {
            await data.close()
            throw ServerError("\(error)")
        }
    }

    private init(
        _ configuration: ServerConfiguration, _ data: DataStore, _ keys: ServerKeys,
        _ fallbacks: [String: [String: String]], _ log: Log
    ) async throws {
        self.log = log
        hubMoves = HubMoves(log: log)
        requestLog = RequestLog(configuration.accessLog, log: log, time: time)
        self.data = data
        let storage = data.storage
        if let nodes = storage.nodeStore {
            let asked = ContinuousClock.now
            if time.follow(try await nodes.databaseTime(), readWithin: .now - asked) { time.report(to: log) }
            if let advice = try await Self.advice(onNamesOf: nodes) { log.write(.warning, advice) }
        }
        retention = Retention(notifications: configuration.notificationRetention)
        keyRotation = KeyRotation(keys: keys, storage: storage)
        signer = try keys.urlSigner()
        operators = try await OperatorDirectory(store: storage, time: time)
        consoleProvider = ConsoleProvider(nil)
        digestKey = try keys.digestKey()
        loops = try EventLoopGroup(count: configuration.loops)
        client = HTTPClient(loops: loops)
        let credentials = fallbacks.map { (PlatformID(rawValue: $0.key), Credential($0.value)) }
        simulated = Set(credentials.map(\.0))
        let lease = SendingLease()
        let isShared = storage.nodeStore != nil
        let ownership = isShared ? HubOwnership(lease: lease) : HubOwnership(ofAllUnder: lease)
        hubs = HubDirectory(
            store: storage, platforms: platforms, time: time,
            fallbacks: Dictionary(uniqueKeysWithValues: credentials), standard: configuration.defaultLimits,
            isShared: isShared)
        try await hubs.reload()
        if let name = configuration.backendHub { try await hubs.chooseBackendHub(named: name) }
        let backendHub = BackendHub(hubs, named: configuration.backendHub)
        self.backendHub = backendHub
        devices = DeviceRegistry(store: storage, platforms: platforms, time: time) { [hubs] in
            hubs.hub($0)?.settings.registrationTTL
        }
        users = UserDirectory(store: storage, time: time)
        let alarm = ScheduleAlarm()
        let dispatcher = Dispatcher(
            notifications: storage, devices: storage, maps: storage.maps, hubs: hubs, platforms: platforms,
            transport: client, messageIDs: try keys.messageIDKey(), time: time, alarm: alarm, ownership: ownership
        ) { log.write(.warning, $0) }
        self.dispatcher = dispatcher
        hubs.onCredentialsChange { dispatcher.credentialsChanged(in: $0) }
        hubs.onDeletion { dispatcher.deletionChanged(of: $0) }
        controls = dispatcher.makeControls()
        let scheduler = Scheduler(
            store: storage, controls: controls, alarm: alarm, time: time, released: { dispatcher.enqueue($0) },
            log: { log.write(.warning, $0) })
        self.scheduler = scheduler
        let accepted = AcceptanceCount()
        notifications = NotificationIntake(
            store: storage, platforms: platforms, time: time, backlogLimits: { [hubs] in hubs.backlogLimits(of: $0) },
            accepted: { deliveries in
                accepted.addImmediate()
                dispatcher.enqueue(deliveries)
                // The scheduler must know when the notification of a canary expires, because the rest of the canary
                // must begin at that time at the latest. So new deliveries of a canary wake the scheduler.
                if deliveries.contains(where: { $0.part != nil }) { alarm.ring() }
            },
            scheduled: { _ in
                accepted.addScheduled()
                scheduler.wake()
            })
        testSends = dispatcher.makeTestSends()
        dryRuns = dispatcher.makeDryRuns()
        funnels = Funnels(store: storage)
        deadLetters = DeadLetters(store: storage, time: time) { dispatcher.enqueue($0) }
        traces = Traces(
            store: storage, maps: storage.maps, platforms: platforms, messageIDs: try keys.messageIDKey())
        jobs = JobRunner(
            jobs: storage, devices: storage, containers: storage.containerStore,
            lines: RegistrationLines(devices: devices, platforms: platforms), ownership: ownership, time: time
        ) { log.write(.warning, $0) }
        nodes = storage.nodeStore.map { [hubs, operators, jobs, time] store in
            NodeService(
                NodeService.Parts(
                    store: store, ownership: ownership, lease: lease, hubs: hubs, operators: operators,
                    dispatcher: dispatcher, jobs: jobs, time: time, log: log))
        }
        servingMove = data.files.map { [jobs] files in
            ServingMove(
                ServingMove.Parts(
                    files: files, keys: keys, lease: lease, dispatcher: dispatcher, jobs: jobs, log: log))
        }
        metrics = ServerMetrics(
            dispatcher: dispatcher, data: data, nodes: nodes, client: client, loops: loops,
            expiries: CredentialExpiries(hubs: hubs, platforms: platforms), accepted: accepted, requests: requests,
            certificateEnd: certificateEnd, time: time)
        backups = BackupDirectory(
            BackupSource(files: data.files, dataDirectory: configuration.dataDirectory, time: time, log: log))
        if let nodes { hubs.onCreation { nodes.created($0) } }
        try await jobs.resume()
    }

    /// Returns a warning if another node that is alive has the name of this one; nil otherwise.
    private static func advice(onNamesOf nodes: any NodeStore) async throws(StorageError) -> String? {
        let all = try await nodes.nodes()
        guard let name = all.first(where: { $0.incarnation == nodes.incarnation })?.name,
            let twin = all.first(where: { $0.isAlive && $0.incarnation != nodes.incarnation && $0.name == name })
        else { return nil }
        return "Another node is called '\(name)' too (incarnation \(twin.incarnation)). If it is not the process "
            + "before this one, which counts for some seconds more, give each node a name of its own with --node."
    }

    /// Removes expired data from the storage, and lets deliveries look whether their devices are gone, at once and
    /// every minute, until the task is cancelled.
    func sweep() async {
        while !Task.isCancelled {
            do throws(StorageError) {
                try await storage.sweep(at: time.now, keeping: retention)
                try await storage.sweepOperators(at: time.now, limit: Self.operatorSweepLimit)
            } catch {
                log.write(.warning, "What is over could not be removed: \(error)")
            }
            dispatcher.lookForGoneDevices()
            await remindOfBackups()
            try? await time.sleep(until: time.now + Self.sweepInterval)
        }
    }

    private func remindOfBackups() async {
        // There is no notice for PostgreSQL, because its operators make backups with PostgreSQL's own tools.
        guard let files = data.files else { return }
        do throws(StorageError) {
            let (opened, backup) = (try await files.firstOpened(), try await files.lastBackup())
            if backupNotice.isDue(opened: opened, backup: backup, at: time.now) {
                log.write(.warning, BackupNotice.sentence)
            }
        } catch {
            log.write(.warning, "The time of the last backup could not be read: \(error)")
        }
    }

    /// Continues a key rotation that an earlier process did not finish.
    func finishKeyRotation() async {
        do throws(ServerError) {
            try await keyRotation.finish()
        } catch {
            log.write(.warning, "What older keys have sealed could not be sealed anew: \(error)")
        }
    }

    private static let sweepInterval: Duration = .seconds(60)
    private static let operatorSweepLimit = 1000

    func close() async {
        await client.shutDown()
        await data.close()
    }

    /// Returns the reason why the server is not ready, for operators of the machine; nil if it is ready. It may name the
    /// address of the database, and paths.
    @Sendable func obstacle() async -> String? {
        if let obstacle = nodes?.obstacle ?? servingMove?.obstacle { return obstacle }
        do throws(StorageError) {
            try await storage.probe()
            return data.files?.room.shortage ?? certificateObstacle.sentence
        } catch {
            return error.detail
        }
    }

    /// Returns the reason why the server is not ready, for anyone who asks; nil if it is ready. It names no address of a
    /// database and no path.
    @Sendable func publicObstacle() async -> String? {
        if nodes?.obstacle != nil {
            return "This node sends nothing, because it has no lease of the database. \(Self.whereToAsk)"
        }
        if let obstacle = servingMove?.obstacle { return obstacle }
        do throws(StorageError) {
            try await storage.probe()
            return data.files?.room.shortage ?? certificateObstacle.sentence
        } catch {
            return "The database does not answer. \(Self.whereToAsk)"
        }
    }

    private static let whereToAsk = "The server's log and 'martlet health' say why."

    /// Returns a sentence that says what does not work although the server is ready; nil if everything works.
    /// It may name the addresses of databases.
    @Sendable func note() -> String? { sentences(with: nodes?.clusterNote) }

    /// `note` for anyone who asks. It names no address of a database.
    @Sendable func publicNote() -> String? { sentences(with: nodes?.publicClusterNote) }

    private func sentences(with clusterNote: String?) -> String? {
        let notes = [backendHub.obstacle, certificateObstacle.note(at: time.now), clusterNote].compactMap(\.self)
        return notes.isEmpty ? nil : notes.joined(separator: " ")
    }

    /// Returns as soon as every event loop and the database's writer thread have completed one iteration. If one of
    /// them hangs, this function does not return.
    @Sendable func turn() async {
        for loop in loops.loops { await loop.turn() }
        await storage.turn()
    }

    /// Returns the status for the service manager, in one line.
    @Sendable func status() async -> String {
        if let obstacle = await obstacle() { return "waits: \(obstacle)" }
        let count = hubs.all.count
        return "serves \(count) \(count == 1 ? "hub" : "hubs")"
    }

    /// Makes the handler of the public listeners.
    /// - Parameter console: The handler of the console; nil if the public listeners do not serve the console.
    func makeHandler(
        _ configuration: ServerConfiguration, console: (any HTTPHandler)?
    ) throws(ServerError) -> PublicHandler {
        let router = makeHubHandler(configuration, callers: .signed)
        return PublicHandler(
            configuration, token: try configuration.metricsToken(), backend: try makeBackend(configuration),
            parts: PublicHandler.Parts(
                health: answering(HealthAPI(obstacle: publicObstacle, note: publicNote), .health),
                containers: answering(containerHandler, .containers), console: console,
                hubs: answering(router, .hub), metrics: metrics, answering: answering,
                notice: UntrustedProxyNotice(log: log, time: time)))
    }

    /// Logs that failed log-ins from a network are slowed down, at most once a minute.
    @Sendable private func slowedDown(_ network: String) {
        guard failedLogIns.isDue(at: time.now) else { return }
        log.write(.warning, "Failed log-ins from \(network) are slowed down.")
    }

    /// Makes the web console.
    /// - Parameters:
    ///   - administration: The handler of the administration API.
    ///   - simulator: The handler of the simulator's control interface; nil if no simulator runs.
    func makeConsole(
        _ configuration: ServerConfiguration, administration: any HTTPHandler, simulator: (any HTTPHandler)?
    ) throws(ServerError) -> Console {
        consoleProvider.use(try consoleProviderSettings(configuration))
        return Console(
            Console.Parts(
                directory: operators,
                passwords: OperatorLogins(logins: PasswordLogins(time: time, slowedDown: slowedDown)),
                provider: consoleProvider, administration: administration,
                description: ConsoleDescription(
                    administration: AdminDescription.groups, schemas: AdminDescription.schemas),
                simulator: simulator,
                facts: ServerFacts(metrics: metrics, hubs: hubs, obstacle: publicObstacle), hours: storage,
                hubNames: { [hubs] in hubs.all.map(\.name).sorted() }, time: time
            ) { [log] in log.write(.warning, $0) }, configuration.consoleSettings)
    }

    /// Wraps the console's handler so that its answers are counted and logged.
    func answering(_ console: Console) -> any HTTPHandler { answering(console, .console) }

    /// The handler of storage containers, which is the same on all listeners because it accepts signed URLs.
    private var containerHandler: any HTTPHandler {
        ContainerAPI(store: storage.containerStore, signer: signer, time: time).makeHandler()
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

    /// Wraps a handler so that its answers are counted, logged and given a request id.
    @Sendable private func answering(_ handler: any HTTPHandler, _ area: RequestCount.Area) -> any HTTPHandler {
        requestLog.logging(requests.counting(handler, area), area)
    }

    private func makeBackend(_ configuration: ServerConfiguration) throws(ServerError) -> Backend {
        let provider = try identityProvider(configuration)
        do throws(CryptoError) {
            return try Backend(
                users: users, devices: devices, intake: notifications, keys: storage, payloads: storage,
                bodies: storage.payloadBodies, receipts: storage, sends: storage, platforms: platforms,
                hub: backendHub, identityProvider: provider, time: time,
                settings: configuration.backendSettings, slowedDown: slowedDown)
        } catch {
            throw ServerError("The app backend cannot be started: \(error)")
        }
    }

    func identityProvider(_ configuration: ServerConfiguration) throws(ServerError) -> IdentityProvider? {
        guard let settings = try configuration.openIDConnect?.settings() else { return nil }
        return IdentityProvider(settings, transport: client, time: time) { [log] in log.write(.warning, $0) }
    }

    /// Returns the settings of the identity provider with which operators sign in to the console; nil if there is none.
    func consoleProviderSettings(
        _ configuration: ServerConfiguration
    ) throws(ServerError) -> ConsoleProvider.Settings? {
        guard let options = configuration.consoleOpenIDConnect else { return nil }
        let provider = IdentityProvider(try options.settings(), transport: client, time: time) { [log] in
            log.write(.warning, $0)
        }
        return ConsoleProvider.Settings(
            name: options.shownName, provider: provider,
            client: ProviderClient(id: options.clientID, secret: try options.secret()), scopes: options.scopes,
            roles: options.roles)
    }

    /// Changes the identity provider with which operators sign in to the console, and reads the configuration of the
    /// new provider.
    func use(_ console: ConsoleProvider.Settings?) {
        consoleProvider.use(console)
        Task { [consoleProvider] in await consoleProvider.probe() }
    }

    /// Makes the service that orders the certificate; nil if the certificate does not come from an ACME authority.
    func makeACMEService(
        _ configuration: ServerConfiguration, _ certificate: ListenerCertificate
    ) throws(ServerError) -> ACMEService? {
        guard let settings = try configuration.acme?.settings(), let files = configuration.acmeFiles else { return nil }
        return ACMEService(
            settings: settings, files: files, certificate: certificate, obstacle: certificateObstacle,
            program: configuration.version.isEmpty ? "martlet" : "martlet/\(configuration.version)", transport: client,
            time: time
        ) { [log] in log.write($0, $1) }
    }

    private func reload(_ reloader: Reloader?) -> (@Sendable () async throws(ServerError) -> JSON)? {
        guard let reloader else { return nil }
        return { () async throws(ServerError) in try await reloader.report() }
    }

    /// Makes the handler of the admin socket.
    /// - Parameters:
    ///   - console: The address of the console's own listener; nil if the console has no own listener.
    ///   - reloader: Applies a new configuration; nil if no server runs.
    ///   - listeners: The addresses that the server listens on.
    func makeAdminHandler(
        _ configuration: ServerConfiguration, _ endpoint: PublicEndpoint, _ console: PublicEndpoint? = nil,
        _ reloader: Reloader? = nil, listeners: ServerAdministration.Listeners = .init()
    ) -> any HTTPHandler {
        AdminRootHandler(
            administration: makeAdminAPI(configuration, endpoint, console, reloader, listeners: listeners)
                .makeHandler(),
            hubs: makeHubHandler(configuration, callers: .administrator), containers: containerHandler)
    }

    /// Makes the administration API. The parameters are those of `makeAdminHandler`.
    func makeAdminAPI(
        _ configuration: ServerConfiguration, _ endpoint: PublicEndpoint, _ console: PublicEndpoint? = nil,
        _ reloader: Reloader? = nil, listeners: ServerAdministration.Listeners = .init()
    ) -> AdminAPI {
        let consoleEndpoint = console ?? endpoint
        let removal = UserRemoval(users: users, devices: devices, hub: backendHub)
        let groups = UserGroups(users: users, devices: devices, hub: backendHub)
        let containers = ContainerAdministration(
            store: storage.containerStore, signer: signer, endpoint: endpoint, time: time)
        return AdminAPI(
            hubs: hubs, backendHub: backendHub, devices: devices, users: users, userRemoval: removal,
            userGroups: groups,
            platforms: platforms,
            containers: containers, audit: AuditAdministration(store: storage),
            migration: MigrationAdministration(
                hubs: hubs, devices: devices, store: storage,
                lines: RegistrationLines(devices: devices, platforms: platforms), time: time,
                states: MigrationStates(directory: "\(configuration.dataDirectory)/migrations")),
            operators: OperatorAdministration(
                operators, origin: consoleEndpoint.consoleOrigin, answered: consoleEndpoint.advising),
            sends: SendAdministration(hubs: hubs, store: storage, platforms: platforms),
            campaigns: CampaignAdministration(hubs: hubs, store: storage, time: time),
            deviceSearch: DeviceAdministration(
                hubs: hubs, store: storage, users: storage, backendHub: backendHub, traces: traces,
                platforms: platforms, digestKey: digestKey, time: time),
            services: ServiceAdministration(
                hubs: hubs, platforms: platforms, dispatcher: dispatcher, lanes: storage, metrics: metrics,
                digestKey: digestKey, simulated: simulated, time: time),
            server: ServerAdministration(
                metrics: metrics, version: configuration.version, listeners: listeners, obstacle: obstacle),
            nodes: NodeAdministration(store: storage.nodeStore),
            clusters: ClusterAdministration(
                store: storage.clusterStore, hubs: hubs, moves: hubMoves, time: time),
            move: MoveAdministration(move: servingMove, dataDirectory: configuration.dataDirectory),
            serverKey: KeyAdministration(rotation: keyRotation),
            limits: LimitAdministration(hubs: hubs, storage: storage), traces: traces,
            deadLetters: deadLetters, funnels: funnels,
            controls: controls,
            jobs: jobs, backup: BackupAdministration(source: backups.source, directory: backups),
            lifecycle: LifecycleAdministration(obstacle: obstacle, note: note, reload: reload(reloader)),
            metrics: metrics, endpoint: endpoint)
    }

    /// Wraps the handler of the admin socket so that its answers are counted and logged.
    func answering(administration: any HTTPHandler) -> any HTTPHandler { answering(administration, .admin) }
}
