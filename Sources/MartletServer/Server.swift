import MartletBackend
import MartletConsole
import MartletCore
import MartletCrypto
public import MartletHTTP
import MartletHubAPI
import MartletModel
import MartletNetwork
import MartletPush
import Synchronization

/// A Martlet server, assembled from a configuration.
///
/// ```swift
/// let server = try await Server.start(configuration)
/// print(server.origins)
/// await server.run()  // until the task is cancelled
/// ```
public final class Server: Sendable {
    /// The addresses that the server listens on, with the actual ports.
    public let origins: [HTTPOrigin]
    /// The path of the Unix socket for proxies; nil for none.
    public var socket: String? { configuration.listenSocket }
    /// True while no client can connect by TLS, because the ACME authority has not issued the first certificate yet.
    public var awaitsCertificate: Bool { certificate.map { $0.current == nil } ?? false }
    /// The SHA-256 fingerprint of the certificate in use, as browsers show it; nil if there is none.
    public var certificateFingerprint: String? { certificate?.current?.certificate.fingerprint }
    /// The path of the certificate of the private authority; nil without `--tls-self-signed`.
    public let authorityFile: String?

    /// The address of the web console, with the path `/console/`; nil if the server has no console.
    public let consoleURL: String?

    private let engine: Engine
    private let front: HTTPServer
    private let console: Console?
    private let consoleFront: HTTPServer?
    private let admin: HTTPServer
    private let certificate: ListenerCertificate?
    private let acme: ACMEService?
    private let reloader: Reloader
    private let manager: ServiceManager
    private let configuration: ServerConfiguration

    private init(
        origins: [HTTPOrigin], authorityFile: String?, engine: Engine, front: HTTPServer, admin: HTTPServer,
        console: (Console, url: String, front: HTTPServer?)?, certificate: ListenerCertificate?, acme: ACMEService?,
        reloader: Reloader, manager: ServiceManager,
        configuration: ServerConfiguration
    ) {
        self.origins = origins
        self.authorityFile = authorityFile
        self.engine = engine
        self.front = front
        self.console = console?.0
        consoleURL = console?.url
        consoleFront = console?.front
        self.admin = admin
        self.certificate = certificate
        self.acme = acme
        self.reloader = reloader
        self.manager = manager
        self.configuration = configuration
    }

    /// Opens the data directory, and starts to listen.
    /// - Parameters:
    ///   - fallbacks: Credential properties by platform, used for hubs that have no credential of their own. A
    ///     simulator provides them.
    ///   - simulator: The handler of the simulator's control interface, for the console; nil if no simulator runs.
    ///   - manager: The service manager, such as systemd, which is notified of start, reloads and stop.
    ///   - read: Reads the configuration again for a reload. If it is nil, a reload keeps `configuration`, and only
    ///     reads again the files that are named in it.
    /// - Throws: `ServerError` that names the cause.
    public static func start(
        _ configuration: ServerConfiguration, fallbacks: [String: [String: String]] = [:],
        simulator: (any HTTPHandler)? = nil, manager: ServiceManager = .none,
        read: (@Sendable () throws -> ServerConfiguration)? = nil
    ) async throws(ServerError) -> Server {
        try configuration.validate()
        try configuration.checkFirstStart()
        return try await manager.extending { () async throws(ServerError) in
            let engine = try await Engine.open(configuration, fallbacks: fallbacks)
            do throws(ServerError) {
                return try await listen(configuration, engine, simulator, manager, read ?? { configuration })
            } catch {
                await engine.close()
                throw error
            }
        }
    }

    /// Serves and delivers until the task is cancelled, or until all data was moved to a database. Then finishes the
    /// work in progress and closes the data directory.
    public func run() async {
        logStart()
        manager.tell(.ready)
        let stop = Mutex<ContinuousClock.Instant?>(nil)
        // The lease must be renewed until all sending has ended, so this task is not cancelled together with the
        // services.
        let node = Task { [engine] in await engine.nodes?.run() }
        await withTaskCancellationHandler {
            await runServices()
        } onCancel: {
            willStop(at: stop)
        }
        willStop(at: stop)
        await engine.servingMove?.settle()
        node.cancel()
        await node.value
        await engine.nodes?.leave()
        await engine.close()
        let seconds = stop.withLock(\.self).map { (ContinuousClock.now - $0).inSeconds } ?? 0
        engine.log.write(.info, "Stopped.", ["seconds": .double((seconds * 1000).rounded() / 1000)])
    }

    /// Notes when the server begins to stop, unless that is noted already.
    private func willStop(at stop: borrowing Mutex<ContinuousClock.Instant?>) {
        let isFirst = stop.withLock { stop in
            defer { stop = stop ?? .now }
            return stop == nil
        }
        guard isFirst else { return }
        engine.servingMove?.giveUp(because: "The server stops, so the move was given up.")
        engine.nodes?.willStop()
        manager.tell(.stopping)
    }

    private func logStart() {
        let version = configuration.version
        let addresses = origins.map(\.description) + (socket.map { ["unix:\($0)"] } ?? [])
        var fields: [String: JSON] = [
            "version": .string(version), "data": .string(configuration.dataDirectory),
            "schema": .integer(Int64(engine.data.schema)), "origins": .array(addresses.map(JSON.string)),
            "hubs": .integer(Int64(engine.hubs.all.count)),
        ]
        if let database = engine.data.database { fields["database"] = .string(database) }
        if let nodes = engine.nodes { fields["incarnation"] = .integer(nodes.store.incarnation) }
        if !configuration.build.isEmpty { fields["build"] = .string(configuration.build) }
        if let end = engine.certificateEnd.timestamp { fields["certificateEnds"] = .string(end.iso8601) }
        engine.log.write(.info, "Martlet\(version.isEmpty ? "" : " ")\(version) serves.", fields)
        if let advice = configuration.authorityAdvice { engine.log.write(.warning, advice) }
    }

    /// Logs why the server stops. The command line calls this with the name of the signal before it cancels `run`.
    public func logStop(_ reason: String) {
        engine.log.write(.info, "Stopping: \(reason).")
    }

    private func runServices() async {
        await withTaskGroup(of: String?.self) { group in
            group.addTask { await self.engine.servingMove?.ended() }
            for service in services {
                group.addTask {
                    await service()
                    return nil
                }
            }
            for await reason in group where reason != nil { group.cancelAll() }
        }
    }

    private var services: [@Sendable () async -> Void] {
        [
            { await self.front.run() }, { await self.admin.run() }, { await self.consoleFront?.run() },
            { await self.console?.run() }, { await self.engine.dispatcher.run() },
            { await self.engine.scheduler.run() }, { await self.engine.jobs.run() },
            { await self.engine.backups.run() }, { await self.engine.sweep() },
            { await self.engine.finishKeyRotation() }, { await self.certificate?.watch() },
            { await self.acme?.run() }, { await self.report.run() },
        ]
    }

    private var report: ServiceReport {
        ServiceReport(manager: manager, time: engine.time, turn: engine.turn, status: engine.status)
    }

    /// Reads the configuration again, applies it and logs the result.
    public func reload() async {
        _ = try? await reloader.report()
    }

    private static func listen(
        _ configuration: ServerConfiguration, _ engine: Engine, _ simulator: (any HTTPHandler)?,
        _ manager: ServiceManager,
        _ read: @escaping @Sendable () throws -> ServerConfiguration
    ) async throws(ServerError) -> Server {
        var certificate: ListenerCertificate?
        if configuration.tlsListen != nil {
            certificate = try ListenerCertificate(configuration, end: engine.certificateEnd, time: engine.time) {
                [log = engine.log] in log.write($0, $1)
            }
        }
        let acme = try certificate.flatMap { (certificate) throws(ServerError) in
            try engine.makeACMEService(configuration, certificate)
        }
        acme?.announce()
        let administration = LateHandler()
        let console =
            configuration.console == .none
            ? nil : try engine.makeConsole(configuration, administration: administration, simulator: simulator)
        let consoleHandler = console.map(engine.answering)
        let handler = try engine.makeHandler(
            configuration, console: configuration.console == .shared ? consoleHandler : nil)
        let front = HTTPServer(loops: engine.loops, handler: handler, limits: configuration.limits)
        engine.requests.watch("public", front)
        var clear: HTTPOrigin?
        var secure: HTTPOrigin?
        if let address = configuration.listen {
            clear = try await listen(front, on: address, tls: nil, configuration.usesProxyProtocol)
        }
        if let address = configuration.tlsListen {
            secure = try await listen(
                front, on: address, tls: certificate?.context, configuration.usesProxyProtocol)
        }
        if let path = configuration.listenSocket { try await listen(front, onSocket: path) }
        let own = try await listenForConsole(configuration, engine, consoleHandler, certificate)
        let endpoint = PublicEndpoint(
            publicURL: configuration.publicURL, tls: secure, clear: clear, hostName: HostName.current)
        let consoleEndpoint = own.map { own in
            PublicEndpoint(
                publicURL: nil, tls: own.origin.scheme == .https ? own.origin : nil,
                clear: own.origin.scheme == .http ? own.origin : nil, hostName: HostName.current)
        }
        let reloader = Reloader(
            configuration, engine: engine, handler: handler, front: front, certificate: certificate,
            manager: manager, read: read)
        let adminHandler = engine.makeAdminHandler(
            configuration, endpoint, consoleEndpoint, reloader,
            listeners: .init(
                shared: [clear, secure].compactMap(\.self), console: own?.origin, socket: configuration.listenSocket))
        administration.use(adminHandler)
        let audited = CommandLineAudit(adminHandler, store: engine.storage, time: engine.time)
        let admin = HTTPServer(loops: engine.loops, handler: engine.answering(administration: audited))
        engine.requests.watch("admin", admin)
        let socket = try AdminSocket(in: configuration.dataDirectory, given: configuration.adminSocket)
        do throws(NetworkError) {
            try await admin.listen(on: .unix(path: socket.path, access: socket.access))
        } catch {
            throw ServerError("The admin socket cannot be opened: \(error)")
        }
        return Server(
            origins: [clear, secure].compactMap(\.self), authorityFile: configuration.authorityFile, engine: engine,
            front: front, admin: admin,
            console: console.map { ($0, "\((consoleEndpoint ?? endpoint).consoleOrigin)/console/", own?.front) },
            certificate: certificate, acme: acme, reloader: reloader, manager: manager,
            configuration: configuration)
    }

    /// Opens the console's own listener.
    /// - Returns: nil if the console has no listener of its own.
    private static func listenForConsole(
        _ configuration: ServerConfiguration, _ engine: Engine, _ console: (any HTTPHandler)?,
        _ certificate: ListenerCertificate?
    ) async throws(ServerError) -> (origin: HTTPOrigin, front: HTTPServer)? {
        guard let console, let address = configuration.console.address else { return nil }
        var handler: any HTTPHandler = ForwardedClients(
            ConsoleListenerHandler(console: console), proxies: configuration.forwardingProxies)
        if configuration.asksForStrictTransport { handler = StrictTransport(handler: handler) }
        let front = HTTPServer(loops: engine.loops, handler: handler, limits: configuration.limits)
        engine.requests.watch("console", front)
        let context = address.isLoopback ? nil : certificate?.context
        return (try await listen(front, on: address, tls: context, configuration.usesProxyProtocol), front)
    }

    /// Opens a TCP listener.
    /// - Returns: The origin of the listener, with the actual port.
    private static func listen(
        _ server: HTTPServer, on address: ServerConfiguration.Address, tls context: TLSServerContext?,
        _ proxyProtocol: Bool
    ) async throws(ServerError) -> HTTPOrigin {
        do throws(NetworkError) {
            let bound = try await server.listen(
                on: .tcp(host: address.host, port: address.port), tls: context, proxyProtocol: proxyProtocol)
            if address.isEveryAddress {
                // An address without a host stands for all addresses, so the server also listens on all IPv6 addresses.
                // A failure is ignored, because the machine may have no IPv6.
                _ = try? await server.listen(
                    on: .tcp(host: "::", port: bound.port), tls: context, proxyProtocol: proxyProtocol)
            }
            return HTTPOrigin(scheme: context == nil ? .http : .https, host: address.host, port: bound.port)
        } catch {
            throw ServerError("The server cannot listen on \(address): \(error.reason)")
        }
    }

    private static func listen(_ server: HTTPServer, onSocket path: String) async throws(ServerError) {
        do throws(NetworkError) {
            try await server.listen(on: .unix(path: path, access: .group))
        } catch {
            throw ServerError("The server cannot listen on the Unix socket \(path): \(error.reason)")
        }
    }
}

extension ServerConfiguration {
    /// The path of the certificate that clients must trust; nil if there is no private authority.
    fileprivate var authorityFile: String? {
        tls == .selfSigned ? ServerCertificates.authorityFile(in: dataDirectory) : nil
    }
}
