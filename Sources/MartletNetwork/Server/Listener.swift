/// Accepts connections and distributes them over the loops of a server. Owned by its loop.
final class Listener: ReadinessHandler {
    private static let acceptedPerTurn = 64
    /// The time for which accepting pauses when the server is full or out of descriptors.
    ///
    /// In this time, new connections wait in the kernel's accept queue.
    private static let pause: Duration = .milliseconds(50)

    private let loop: EventLoop
    private var socket: ListeningSocket?
    /// Returns the TLS context for the next connection. The closure is nil for a listener without TLS.
    private let tls: (@Sendable () -> TLSServerContext)?
    /// True if each connection must come from a trusted proxy and begin with a PROXY protocol header.
    private let readsProxyHeaders: Bool
    private let servers: [LoopBound<LoopServer>]
    private let count: ConnectionCount
    private let networks: PeerNetworkRule
    /// The limits that are nearly reached and for which idle connections are being closed.
    private var closing: Set<ConnectionShares.Shortage> = []
    private var registration: Registration?
    private var turn = 0

    init(
        _ socket: consuming ListeningSocket, tls: (@Sendable () -> TLSServerContext)?, readsProxyHeaders: Bool,
        servers: [LoopBound<LoopServer>], count: ConnectionCount, networks: PeerNetworkRule, loop: EventLoop
    ) {
        self.networks = networks
        self.readsProxyHeaders = readsProxyHeaders
        self.loop = loop
        self.socket = consume socket
        self.tls = tls
        self.servers = servers
        self.count = count
    }

    func start() throws(NetworkError) {
        guard let descriptor = socket?.descriptor else { return }
        registration = try loop.register(descriptor, for: .read, handler: self)
    }

    func stop() {
        if let registration { loop.unregister(registration) }
        registration = nil
        socket = nil
    }

    func ready(_ readiness: Readiness) {
        for _ in 0..<Self.acceptedPerTurn {
            guard registration != nil else { return }
            guard !count.isFull else {
                closeIdle(in: .everywhere)
                return rest()
            }
            switch socket?.accept() ?? .none {
            case .connection(let accepted, let peer):
                guard !readsProxyHeaders || networks.isTrusted(peer) else {
                    count.refuse(.untrustedProxy)
                    continue
                }
                let network = networks.network(of: peer)
                let (isAdmitted, shortage) = count.admit(network)
                if let shortage { closeIdle(in: shortage) }
                if isAdmitted { handOver(accepted, peer: peer, network) }
            case .refused: continue
            case .none: return
            case .exhausted: return rest()
            }
        }
    }

    private func handOver(_ socket: consuming Socket, peer: SocketAddress, _ network: PeerNetwork) {
        let server = servers[turn % servers.count]
        turn += 1
        let descriptor = socket.release()
        let (tls, readsProxyHeaders) = (tls, readsProxyHeaders)
        server.loop.perform {
            let accepted = LoopServer.Accepted(peer: peer, network: network, tls: tls)
            if readsProxyHeaders {
                server.value.adoptBehindProxy(Socket(owning: descriptor), accepted)
            } else {
                server.value.adopt(Socket(owning: descriptor), accepted)
            }
        }
    }

    /// Closes the connections that have been idle for the longest time, on all loops.
    ///
    /// For each shortage, only one such call runs at a time.
    private func closeIdle(in shortage: ConnectionShares.Shortage) {
        guard closing.insert(shortage).inserted else { return }
        let count = count.surplus(in: shortage)
        let servers = servers
        // The task keeps the listener alive until the task ends, which is harmless. While the listener accepts
        // connections, the loop keeps it alive too. After that, the result of the task has no effect.
        let listener = LoopBound(self, loop: loop)
        Task.detached {
            var idle: [IdleConnection] = []
            for server in servers { idle += await server.loop.run { server.value.longestIdle(count, in: shortage) } }
            let ids = Set(IdleConnection.longest(count, of: idle).map(\.id))
            for server in servers { await server.loop.run { server.value.closeIdle(ids) } }
            await listener.loop.run { _ = listener.value.closing.remove(shortage) }
        }
    }

    private func rest() {
        guard let registration else { return }
        loop.update(registration, for: [])
        _ = loop.startTimer(due: loop.now + Self.pause) { [weak self] in
            guard let self, let registration = self.registration else { return }
            self.loop.update(registration, for: .read)
        }
    }
}
