import Glibc
public import MartletHTTP
public import MartletModel
import MartletNetwork
public import MartletPush

/// The push services, simulated on this machine with real TLS, real HTTP/2 and HTTP/1.1, and made-up devices.
///
/// Each service has a listener of its own, just as each real service has a host of its own. The control interface has
/// another listener.
///
/// ```swift
/// let simulator = try await Simulator.start()
/// print("push services at \(simulator.origins), trusted by \(simulator.caCertificatePEM)")
/// await simulator.run()  // until the task is cancelled
/// ```
public final class Simulator: Sendable {
    /// The configuration of a simulator: its addresses, its services and their faults.
    public struct Configuration: Sendable {
        /// A numeric address to listen on, or `localhost`.
        public var host = "127.0.0.1"
        /// The port of the control interface.
        ///
        /// The next higher ports are for the services, in the order of `services`. The ports after these are for the
        /// listeners that real devices connect to. If `port` is 0, free ports are chosen.
        public var port: UInt16 = 0
        /// The services to simulate, with their initial state.
        public var services: [any PushServiceSimulator]
        /// The faults that are in effect from the start.
        public var faults = FaultPlan()
        /// The path of the ledger file, which gets one line of JSON for every message that a service accepts; nil for
        /// no file.
        public var ledger: String?
        /// Returns the time on which the clock of the simulated services is based. The control interface can move that
        /// clock forward or back.
        public var now: @Sendable () -> Timestamp

        /// Creates a configuration with all services.
        /// - Parameter acceptsAnyKey: Whether senders that are not registered are accepted without verification.
        public init(acceptsAnyKey: Bool = false, now: @escaping @Sendable () -> Timestamp = Simulator.timeOfDay) {
            services = PushPlatforms.simulators(acceptsAnyKey: acceptsAnyKey)
            self.now = now
        }
    }

    /// The address of the control interface.
    public let origin: HTTPOrigin
    /// The addresses of the services.
    public let origins: [PlatformID: HTTPOrigin]
    /// The addresses that real devices connect to, for the services that support them.
    public let sockets: [PlatformID: HTTPOrigin]
    /// The certificate of the simulator's authority, as PEM, which senders must trust.
    ///
    /// A new authority is created at every start.
    public let caCertificatePEM: String

    private let state: SimulatorState
    private let servers: [HTTPServer]

    private init(
        origin: HTTPOrigin, listeners: SimulatorListeners, caCertificatePEM: String, state: SimulatorState
    ) {
        self.origin = origin
        origins = listeners.origins
        sockets = listeners.sockets
        self.caCertificatePEM = caCertificatePEM
        self.state = state
        servers = listeners.servers
    }

    /// The system's wall clock.
    public static let timeOfDay: @Sendable () -> Timestamp = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The port of the control interface.
    public var port: UInt16 { origin.port }

    /// The handler of the control interface, to be called in this process.
    ///
    /// This handler does not perform the access checks of the listener (`ControlAccess`).
    public var controls: any HTTPHandler { ControlRoutes(state: state).router }

    /// The credential properties that a hub needs to send to the simulated services, by platform.
    public var credentials: [String: [String: String]] {
        state.withContents { contents, _ in
            Dictionary(contents.services.map { ($0.platform.rawValue, $0.credential) }) { first, _ in first }
        }
    }

    /// Creates an authority and certificates, and starts to listen.
    /// - Throws: `SimulatorError` that says why the simulator cannot start: the ledger or a listener cannot be opened,
    ///   a certificate or a credential cannot be created, or no service can produce a fault of the plan.
    public static func start(_ configuration: Configuration = Configuration()) async throws(SimulatorError) -> Simulator
    {
        let ledger: SimulatorLedger? =
            if let path = configuration.ledger { try SimulatorLedger(path: path) } else { nil }
        let state = SimulatorState(
            configuration.services, plan: configuration.faults, ledger: ledger, now: configuration.now)
        try state.checkFaults()
        let certificates = try SimulatorCertificates(host: configuration.host, now: configuration.now())
        var listeners = SimulatorListeners(configuration, certificates: certificates, state: state)
        let origin = try await listeners.listen()
        try state.issueCredentials(
            origins: listeners.origins, sockets: listeners.sockets, authorityPEM: certificates.authorityPEM)
        return Simulator(
            origin: origin, listeners: listeners, caCertificatePEM: certificates.authorityPEM, state: state)
    }

    /// Serves until the task is cancelled, then shuts down.
    public func run() async {
        let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
        await withTaskCancellationHandler {
            for await _ in stopped {}
        } onCancel: {
            stop.finish()
        }
        await shutDown()
    }

    /// Stops listening and closes every connection.
    public func shutDown() async {
        state.stopAllListening()
        await withTaskGroup(of: Void.self) { group in
            for server in servers { group.addTask { await server.shutDown() } }
        }
    }
}
