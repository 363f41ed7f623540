import Glibc
public import MartletHTTP
public import MartletModel
import MartletNetwork
public import MartletPush

/// The push services on this machine: real TLS, real HTTP/2, made-up devices.
///
/// ```swift
/// let simulator = try await Simulator.start()
/// print("push services at \(simulator.origin), trusted by \(simulator.caCertificatePEM)")
/// await simulator.run()  // until the task is cancelled
/// ```
public final class Simulator: Sendable {
    /// Where and how strictly the services are simulated.
    public struct Configuration: Sendable {
        /// A numeric address to listen on, or `localhost`.
        public var host = "127.0.0.1"
        /// 0 takes a free one.
        public var port: UInt16 = 0
        /// The services with their state.
        public var services: [any PushServiceSimulator]
        /// The time of day.
        public var now: @Sendable () -> Timestamp

        /// - Parameter acceptsAnyKey: Whether senders that nobody registered are taken at their word.
        public init(acceptsAnyKey: Bool = false, now: @escaping @Sendable () -> Timestamp = Simulator.timeOfDay) {
            services = PushPlatforms.simulators(acceptsAnyKey: acceptsAnyKey)
            self.now = now
        }
    }

    /// Where the services and the control interface are reached.
    public let origin: HTTPOrigin
    /// The certificate of the authority that senders must trust; made at every start.
    public let caCertificatePEM: String

    /// What a hub needs to send to the simulated services: credential properties by platform.
    public let credentials: [String: [String: String]]

    private let state: SimulatorState
    private let server: HTTPServer

    private init(
        origin: HTTPOrigin, caCertificatePEM: String, credentials: [String: [String: String]], state: SimulatorState,
        server: HTTPServer
    ) {
        self.credentials = credentials
        self.origin = origin
        self.caCertificatePEM = caCertificatePEM
        self.state = state
        self.server = server
    }

    /// The clock on the wall.
    public static let timeOfDay: @Sendable () -> Timestamp = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The port that is listened on.
    public var port: UInt16 { origin.port }

    /// Makes an authority and a certificate and begins to listen.
    /// - Throws: `SimulatorError` with a sentence that says why it cannot listen.
    public static func start(_ configuration: Configuration = Configuration()) async throws(SimulatorError) -> Simulator
    {
        let state = SimulatorState(configuration.services, now: configuration.now)
        let connections = SimulatorConnections(state: state)
        let certificates = try SimulatorCertificates(host: configuration.host, now: configuration.now())
        // A connection may have one request until it has proved whose it is.
        var http2 = HTTP2Settings()
        http2.streamLimit = 1
        let server: HTTPServer
        let origin: HTTPOrigin
        do throws(NetworkError) {
            let tls = try TLSServerContext(certificates.identity, requestsClientCertificate: true)
            server = HTTPServer(
                loops: try EventLoopGroup(count: 1),
                handler: SimulatorHandler(state: state, connections: connections), limits: limits, http2: http2,
                onHTTP2: connections.add)
            let address = try await server.listen(
                on: .tcp(host: configuration.host, port: configuration.port), tls: tls)
            origin = HTTPOrigin(scheme: .https, host: configuration.host, port: address.port)
        } catch {
            throw SimulatorError("The simulator cannot listen on \(configuration.host): \(error)")
        }
        let credentials = try state.issueCredentials(origin: origin, authorityPEM: certificates.authorityPEM)
        return Simulator(
            origin: origin, caCertificatePEM: certificates.authorityPEM, credentials: credentials, state: state,
            server: server)
    }

    /// A sender keeps its connections for hours; whoever follows a device hears nothing for as long.
    private static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.idleTime = .seconds(3600)
        limits.shutdownTime = .seconds(2)
        return limits
    }

    /// Serves until the task is cancelled, then shuts down.
    public func run() async {
        await server.run()
    }

    /// Stops listening and closes every connection.
    public func shutDown() async {
        state.stopAllListening()
        await server.shutDown()
    }
}
