public import MartletHTTP
import Synchronization

/// Serves HTTP/1.1 and HTTP/2 on any number of listeners with one handler.
///
/// ```swift
/// let server = HTTPServer(loops: try EventLoopGroup(), handler: router)
/// let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
/// print("ready on port \(address.port)")
/// await server.run()  // until the task is cancelled
/// ```
public final class HTTPServer: Sendable {
    /// An address to listen on.
    public enum Endpoint: Hashable, Sendable {
        /// A numeric IPv4 or IPv6 address, or `localhost` (127.0.0.1); port 0 selects a free port.
        case tcp(host: String, port: UInt16)
        /// A socket file. It is removed when the server has shut down.
        case unix(path: String, access: UnixSocketAccess = .owner)
    }

    private let servers: [LoopBound<LoopServer>]
    private let count: ConnectionCount
    private let networks: PeerNetworkRule
    private let ledger: BodyLedger
    private let answers: BodyLedger
    private let listeners = Mutex<[LoopBound<Listener>]>([])

    /// Creates a server without listeners.
    /// - Parameters:
    ///   - handler: Answers every request, on the executor of the loop that owns the request's connection.
    ///   - http2: The settings that are announced to HTTP/2 clients.
    ///   - observer: Receives every connection, with an object to control it.
    public init(
        loops: EventLoopGroup, handler: any HTTPHandler, limits: ServerLimits = ServerLimits(),
        http2: HTTP2Settings = HTTP2Settings(), observer: (any ConnectionObserver)? = nil
    ) {
        count = ConnectionCount(limit: limits.connections, share: limits.connectionsPerNetwork)
        networks = PeerNetworkRule(limits)
        ledger = BodyLedger(limits: limits.bodies)
        answers = BodyLedger(limits: limits.answers)
        let common = LoopServer.Common(
            handler: handler, limits: limits, http2: http2, observer: observer, count: count, ledger: ledger,
            answers: answers, networks: networks)
        servers = loops.loops.map { LoopBound(LoopServer(loop: $0, common: common), loop: $0) }
    }

    deinit {
        // Objects owned by a loop must be released on that loop.
        for listener in listeners.withLock({ $0 }) { listener.loop.perform { listener.value.stop() } }
        for server in servers { server.loop.perform { server.value.drain {} } }
    }

    /// The number of open connections of all listeners.
    public var connectionCount: Int { count.current }

    /// The number of connections that were closed before their first request, by reason.
    public var connectionRefusals: [ConnectionRefusal: Int] { count.refusals }

    /// The number of bytes reserved for bodies of requests that are not answered yet.
    public var bodyBytes: Int { ledger.used }

    /// The number of bytes of answers that the clients have not read. Bytes that are reserved for answers that do not
    /// exist yet are included.
    public var answerBytes: Int { answers.used }

    /// The number of requests that were refused because there was no memory for their bodies or answers.
    public var bodyRefusals: Int { ledger.refusalCount + answers.refusalCount }

    /// Changes which proxies are trusted and how many connections one network may have. Applies to connections accepted
    /// from now on.
    public func setShares(trustedProxies: TrustedProxies, connectionsPerNetwork: Int) {
        networks.setTrustedProxies(trustedProxies)
        count.setShare(connectionsPerNetwork)
    }

    /// Starts to accept connections.
    /// - Parameters:
    ///   - tls: The TLS context of the listener; nil for clear text.
    ///   - proxyProtocol: Whether only trusted proxies may connect. For each connection, such a proxy must send a
    ///     header of the PROXY protocol that names the client, before TLS begins.
    /// - Returns: The address with the actual port.
    @discardableResult
    public func listen(
        on endpoint: Endpoint, tls: TLSServerContext? = nil, proxyProtocol: Bool = false
    ) async throws(NetworkError) -> SocketAddress {
        var choosingTLS: (@Sendable () -> TLSServerContext)?
        if let tls { choosingTLS = { tls } }
        return try await listen(on: endpoint, proxyProtocol: proxyProtocol, choosingTLS: choosingTLS)
    }

    /// Starts to accept connections, with a TLS context that is chosen for each connection.
    /// - Parameter choosingTLS: Returns the TLS context for a connection. Called on the connection's loop. The closure
    ///   is nil for clear text.
    /// - Returns: The address with the actual port.
    @discardableResult
    public func listen(
        on endpoint: Endpoint, proxyProtocol: Bool = false, choosingTLS: (@Sendable () -> TLSServerContext)?
    ) async throws(NetworkError) -> SocketAddress {
        let servers = servers
        let count = count
        let loop = servers[0].loop
        let networks = networks
        let (listener, address) = try await loop.run { () throws(NetworkError) in
            let socket = try Self.open(endpoint)
            let address = socket.address
            let listener = Listener(
                socket, tls: choosingTLS, readsProxyHeaders: proxyProtocol, servers: servers, count: count,
                networks: networks, loop: loop)
            try listener.start()
            return (LoopBound(listener, loop: loop), address)
        }
        listeners.withLock { $0.append(listener) }
        return address
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

    /// Stops accepting, waits for open requests (for at most `ServerLimits.shutdownTime`), then closes all connections.
    public func shutDown() async {
        let stopped = listeners.withLock { listeners in
            let stopped = listeners
            listeners = []
            return stopped
        }
        for listener in stopped { await listener.loop.run { listener.value.stop() } }
        await withTaskGroup(of: Void.self) { group in
            for server in servers {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        server.loop.perform { server.value.drain { continuation.resume() } }
                    }
                }
            }
        }
    }

    private static func open(_ endpoint: Endpoint) throws(NetworkError) -> ListeningSocket {
        switch endpoint {
        case .unix(let path, let access): return try ListeningSocket(unixPath: path, access: access)
        case .tcp(let host, let port):
            guard let address = SocketAddress(address: host == "localhost" ? "127.0.0.1" : host, port: port) else {
                throw NetworkError(.configuration, "\(host) is not an IPv4 or IPv6 address to listen on")
            }
            return try ListeningSocket(tcp: address)
        }
    }
}
