import MartletHTTP
import MartletModel
import MartletNetwork
import MartletPush

/// Opens the listeners of a simulator: one for the control interface, one for each service, and one for the real
/// devices of each service that supports them.
struct SimulatorListeners {
    private let configuration: Simulator.Configuration
    private let certificates: SimulatorCertificates
    private let state: SimulatorState
    private(set) var servers: [HTTPServer] = []
    private(set) var origins: [PlatformID: HTTPOrigin] = [:]
    private(set) var sockets: [PlatformID: HTTPOrigin] = [:]

    init(_ configuration: Simulator.Configuration, certificates: SimulatorCertificates, state: SimulatorState) {
        self.configuration = configuration
        self.certificates = certificates
        self.state = state
    }

    /// Opens all listeners.
    /// - Returns: The origin of the control interface.
    /// - Throws: `SimulatorError` if a listener cannot be opened. The listeners that are already open are then closed.
    mutating func listen() async throws(SimulatorError) -> HTTPOrigin {
        do throws(SimulatorError) {
            return try await openAll()
        } catch {
            for server in servers { await server.shutDown() }
            throw error
        }
    }

    private mutating func openAll() async throws(SimulatorError) -> HTTPOrigin {
        let loops = try Self.loops()
        let (certificates, state) = (certificates, state)
        let handler = ControlHandler(
            access: ControlAccess(host: configuration.host), routes: ControlRoutes(state: state).router)
        let control = HTTPServer(loops: loops, handler: handler, limits: Self.limits)
        let origin = try await open(control, 0) { certificates.context(nil) }
        for (index, service) in configuration.services.enumerated() {
            let platform = type(of: service).platform
            origins[platform] = try await open(server(of: service, on: loops), index + 1) {
                certificates.context(state.acceptFault(of: platform))
            }
        }
        for service in configuration.services {
            guard let service = service as? any DeviceSocketSimulator else { continue }
            let platform = type(of: service).platform
            let handler = DeviceSocketHandler(
                platform: platform, state: state, subprotocol: type(of: service).socketProtocol)
            // This listener uses no TLS. A browser accepts a service without TLS on this machine, but does not accept a
            // certificate of the simulator.
            sockets[platform] = try await open(
                HTTPServer(loops: loops, handler: handler, limits: Self.limits),
                configuration.services.count + sockets.count + 1, choosingTLS: nil)
        }
        return origin
    }

    private static func loops() throws(SimulatorError) -> EventLoopGroup {
        do throws(NetworkError) {
            return try EventLoopGroup(count: 1)
        } catch {
            throw SimulatorError("The simulator cannot start: \(error)")
        }
    }

    private func server(of service: any PushServiceSimulator, on loops: EventLoopGroup) -> HTTPServer {
        let platform = type(of: service).platform
        let connections = ServiceConnections(platform: platform, state: state)
        var http2 = HTTP2Settings()
        http2.streamLimit = type(of: service).firstStreamLimit
        // The connection window stays at HTTP/2's initial size, as it does at the real services. Fifteen large bodies
        // fill the window, so senders meet this limit here too.
        http2.connectionWindow = 65_535
        return HTTPServer(
            loops: loops, handler: ServiceHandler(platform: platform, state: state, connections: connections),
            limits: Self.limits, http2: http2, observer: connections)
    }

    /// Opens a listener.
    /// - Parameter index: The number of the listener, which is added to the first port.
    private mutating func open(
        _ server: HTTPServer, _ index: Int, choosingTLS: (@Sendable () -> TLSServerContext)?
    ) async throws(SimulatorError) -> HTTPOrigin {
        let host = configuration.host
        guard let port = UInt16(exactly: configuration.port == 0 ? 0 : Int(configuration.port) + index) else {
            throw SimulatorError("The simulator needs \(index) more ports than there are behind \(configuration.port).")
        }
        servers.append(server)
        do throws(NetworkError) {
            let address = try await server.listen(on: .tcp(host: host, port: port), choosingTLS: choosingTLS)
            return HTTPOrigin(scheme: choosingTLS == nil ? .http : .https, host: host, port: address.port)
        } catch {
            throw SimulatorError("The simulator cannot listen on \(host), port \(port): \(error.reason)")
        }
    }

    /// The limits of all listeners.
    ///
    /// Connections may be idle for an hour, because senders keep connections open for hours, and a device's connection
    /// is idle until a message for the device arrives.
    private static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.idleTime = .seconds(3600)
        limits.shutdownTime = .seconds(2)
        // The memory for bodies is large, because some faults keep thousands of requests open together with their
        // bodies.
        limits.bodies = BodyLimits(total: 1 << 30)
        return limits
    }
}
