import MartletHTTP
import Synchronization

/// The connections of a server on one loop. Owned by that loop.
final class LoopServer: ConnectionOwner {
    /// The settings and state that all connections of a server share.
    struct Common: Sendable {
        let handler: any HTTPHandler
        let limits: ServerLimits
        let http2: HTTP2Settings
        let observer: (any ConnectionObserver)?
        let count: ConnectionCount
        let ledger: BodyLedger
        let answers: BodyLedger
        let networks: PeerNetworkRule
    }

    /// A connection that was accepted and counted.
    struct Accepted {
        /// The address of the client, or of the proxy until the proxy has named the client.
        var peer: SocketAddress
        /// The proxy that named the client in a header of the PROXY protocol, if any.
        var proxy: SocketAddress?
        /// The network under which the connection is counted.
        var network: PeerNetwork
        /// Returns the TLS context of the connection.
        ///
        /// The closure is nil for clear text.
        let tls: (@Sendable () -> TLSServerContext)?
    }

    private let loop: EventLoop
    private let common: Common
    private var connections: [UInt64: Connection] = [:]
    /// The network under which each connection is counted. A change of the trusted proxies does not change these
    /// entries.
    private var networks: [UInt64: PeerNetwork] = [:]
    /// The header readers of connections whose proxy has not named the client yet.
    private var proxyHeaders: [ObjectIdentifier: ProxyHeaderReader] = [:]
    private var isDraining = false
    private var drained: [() -> Void] = []

    private var limits: ServerLimits { common.limits }
    private var count: ConnectionCount { common.count }

    init(loop: EventLoop, common: Common) {
        self.loop = loop
        self.common = common
    }

    /// Takes over a connection that was counted when it was accepted.
    func adopt(_ socket: consuming Socket, _ accepted: Accepted) {
        guard !isDraining else {
            count.release(accepted.network)
            return
        }
        let session: TLSSession?
        do throws(NetworkError) {
            session = try accepted.tls?().makeSession()
        } catch {
            count.release(accepted.network)
            return
        }
        let connection = Connection(
            socket, peer: accepted.peer, proxy: accepted.proxy, isConnected: true, tls: session, loop: loop,
            setUpDeadline: loop.now + limits.handshakeTime, stallTime: limits.stallTime)
        connections[connection.id] = connection
        networks[connection.id] = accepted.network
        connection.countsUnsent(bodies(of: connection))
        connection.start(owner: self)
    }

    /// Takes over a trusted proxy's connection. Once the proxy has named the client, the connection is counted under
    /// the client's network.
    func adoptBehindProxy(_ socket: consuming Socket, _ accepted: Accepted) {
        guard !isDraining else {
            count.release(accepted.network)
            return
        }
        var key: ObjectIdentifier?
        let reader = ProxyHeaderReader(socket, loop: loop) { [unowned self] result in
            if let key { proxyHeaders[key] = nil }
            guard let (descriptor, header) = result else {
                if !isDraining { count.refuse(.proxyHeader) }
                return count.release(accepted.network)
            }
            adopt(Socket(owning: descriptor), accepted, header)
        }
        let identifier = ObjectIdentifier(reader)
        key = identifier
        proxyHeaders[identifier] = reader
        reader.start(deadline: loop.now + limits.proxyHeaderTime)
    }

    private func adopt(_ socket: consuming Socket, _ accepted: Accepted, _ header: ProxyHeader) {
        var accepted = accepted
        if let client = header.client,
            let peer = SocketAddress(address: client.address.description, port: client.port)
        {
            count.release(accepted.network)
            (accepted.peer, accepted.proxy) = (peer, accepted.peer)
            accepted.network = common.networks.network(ofClient: peer)
            guard count.admit(accepted.network).isAdmitted else { return }
        }
        adopt(socket, accepted)
    }

    func connectionOpened(_ connection: Connection) -> (any WireProtocol)? {
        switch connection.selectedProtocol {
        case "h2": makeHTTP2(connection)
        // The handshake was the answer to the challenge, so no protocol follows and the connection is closed (RFC 8737,
        // section 3).
        case ClientHello.challengeProtocol: nil
        case .some: makeHTTP1(connection)
        case nil:
            ProtocolSelector(start: loop.now, deadline: loop.now + limits.headTime) { [unowned connection] in
                self.makeHTTP1(connection)
            } http2: { [unowned connection] in
                self.makeHTTP2(connection)
            }
        }
    }

    private func makeHTTP1(_ connection: Connection) -> any WireProtocol {
        let info = connection.info(majorVersion: 1)
        if let observer = common.observer {
            observer.opened(ConnectionControl(connection, info: info, isHTTP2: false))
        }
        return HTTP1Server(
            connection, info: info, dispatch: HandlerDispatch(common.handler, loop: loop), limits: limits,
            bodies: bodies(of: connection))
    }

    private func bodies(of connection: Connection) -> ConnectionBodies {
        ConnectionBodies(
            ledger: common.ledger, answers: common.answers, connection: connection.id,
            network: network(of: connection))
    }

    private func network(of connection: Connection) -> PeerNetwork {
        networks[connection.id] ?? limits.network(of: connection.peer)
    }

    /// Returns up to `count` connections of this loop that have been idle for longest. If a network is close to its
    /// limit, only connections of that network are returned.
    func longestIdle(_ count: Int, in shortage: ConnectionShares.Shortage) -> [IdleConnection] {
        var idle: [IdleConnection] = []
        for connection in connections.values {
            if case .of(let network) = shortage, self.network(of: connection) != network { continue }
            if let since = connection.idleSince { idle.append(IdleConnection(id: connection.id, since: since)) }
        }
        return IdleConnection.longest(count, of: idle)
    }

    /// Closes those of the given connections that are still idle.
    func closeIdle(_ ids: Set<UInt64>) {
        for id in ids where connections[id]?.idleSince != nil { connections[id]?.close(nil) }
    }

    private func makeHTTP2(_ connection: Connection) -> any WireProtocol {
        let info = connection.info(majorVersion: 2)
        let control = common.observer.map { observer in
            let control = ConnectionControl(connection, info: info, isHTTP2: true)
            observer.opened(control)
            return control
        }
        return HTTP2ServerSession(
            connection: connection, dispatch: HandlerDispatch(common.handler, loop: loop), info: info, limits: limits,
            settings: common.http2, control: control?.http2, bodies: bodies(of: connection))
    }

    func connectionClosed(_ connection: Connection, error: NetworkError?) {
        connections.removeValue(forKey: connection.id)
        if let network = networks.removeValue(forKey: connection.id) { count.release(network) }
        common.observer?.closed(connection.id)
        if isDraining, connections.isEmpty { reportDrained() }
    }

    /// Waits for open requests (for at most `ServerLimits.shutdownTime`), then closes all connections.
    func drain(_ completed: @escaping () -> Void) {
        drained.append(completed)
        guard !isDraining else { return }
        isDraining = true
        for reader in proxyHeaders.values { reader.cancel() }
        guard !connections.isEmpty else { return reportDrained() }
        for connection in connections.values {
            if let wire = connection.wire {
                wire.drain()
                connection.needsWrite()
            } else {
                connection.close(nil)
            }
        }
        _ = loop.startTimer(due: loop.now + limits.shutdownTime) { self.closeAll() }
    }

    private func closeAll() {
        for connection in connections.values { connection.close(nil) }
    }

    private func reportDrained() {
        let reported = drained
        drained = []
        for completed in reported { completed() }
    }
}

/// An idle connection, which may be closed so that a new one can be accepted.
struct IdleConnection: Hashable, Sendable {
    let id: UInt64
    let since: ContinuousClock.Instant

    /// Returns those of the given connections that have been idle for longest, at most `count`.
    static func longest(_ count: Int, of all: [IdleConnection]) -> [IdleConnection] {
        Array(all.sorted { ($0.since, $0.id) < ($1.since, $1.id) }.prefix(count))
    }
}

/// The reason why a connection was closed before its first request.
public enum ConnectionRefusal: String, Hashable, Sendable, CaseIterable {
    /// The client's network already had the maximum number of connections.
    case share
    /// The connection to a listener for the PROXY protocol was not from a trusted proxy.
    case untrustedProxy = "untrusted_proxy"
    /// A trusted proxy sent no valid header of the PROXY protocol in time.
    case proxyHeader = "proxy_header"
}

/// Counts the connections of a server over all its loops.
final class ConnectionCount: Sendable {
    private let shares: Mutex<ConnectionShares>
    private let refused = Mutex<[ConnectionRefusal: Int]>([:])

    init(limit: Int, share: Int) {
        shares = Mutex(ConnectionShares(limit: limit, share: share))
    }

    var current: Int { shares.withLock { $0.total } }

    /// Changes how many connections one network may have. Existing connections are kept.
    func setShare(_ share: Int) {
        shares.withLock { $0.setShare(share) }
    }

    var isFull: Bool { shares.withLock { $0.isFull } }

    var refusals: [ConnectionRefusal: Int] { refused.withLock(\.self) }

    func refuse(_ reason: ConnectionRefusal) { refused.withLock { $0[reason, default: 0] += 1 } }

    /// Counts a new connection if its network may open it.
    /// - Returns: Whether the connection may stay open, and the limit that is nearly reached, if any.
    func admit(_ network: PeerNetwork) -> (isAdmitted: Bool, shortage: ConnectionShares.Shortage?) {
        let (isAdmitted, shortage) = shares.withLock { shares in
            (shares.admit(network), shares.shortage(for: network))
        }
        if !isAdmitted { refuse(.share) }
        return (isAdmitted, shortage)
    }

    func surplus(in shortage: ConnectionShares.Shortage) -> Int { shares.withLock { $0.surplus(in: shortage) } }

    func release(_ network: PeerNetwork) {
        shares.withLock { $0.release(network) }
    }
}
