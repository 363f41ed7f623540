import MartletHTTP

/// Establishes one connection to an origin: resolves the name, tries the addresses one after another and performs the
/// handshakes. Owned by a loop.
final class Connector: ConnectionOwner {
    /// The peer that a connector connects to, and the settings of the connection.
    struct Target {
        let origin: HTTPOrigin
        let version: TransportSettings.Version
        let context: TLSContext?
        let addresses: TransportSettings.Addresses
        /// The Unix socket to connect to, instead of resolving the origin's host; nil for a network connection.
        let unixPath: String?
        let limits: ClientLimits
    }

    private let target: Target
    private let loop: EventLoop
    /// Called with the new connection.
    ///
    /// Returns the protocol of the connection. `isHTTP2` states whether HTTP/2 is used.
    private let opened: (Connection, _ isHTTP2: Bool) -> (any WireProtocol)?
    private let closed: (NetworkError?, _ wasOpen: Bool) -> Void
    /// Returns the addresses that other connections of the pool use. All other addresses of the name are tried first.
    private let taken: () -> Set<SocketAddress>
    private var addresses: [SocketAddress] = []
    private var connection: Connection?
    private var isOpen = false
    private var isCancelled = false
    private var failure: NetworkError?
    private let deadline: ContinuousClock.Instant
    private var timer: TimerID?

    /// Creates a connector, which begins to connect when `start` is called.
    /// - Parameters:
    ///   - taken: Returns the addresses that other connections of the pool use. Called only if the name has several
    ///     addresses.
    ///   - closed: Called once, either when no connection could be established or when the established connection is
    ///     closed.
    init(
        _ target: Target, loop: EventLoop, taken: @escaping () -> Set<SocketAddress> = { [] },
        opened: @escaping (Connection, Bool) -> (any WireProtocol)?,
        closed: @escaping (NetworkError?, Bool) -> Void
    ) {
        self.target = target
        self.loop = loop
        self.opened = opened
        self.closed = closed
        self.taken = taken
        deadline = loop.now + target.limits.connectTime
    }

    /// The address of the current connection or connection attempt.
    var peer: SocketAddress? { connection?.peer }

    func start() {
        if let path = target.unixPath {
            addresses = SocketAddress(unixPath: path).map { [$0] } ?? []
            return tryNext()
        }
        timer = loop.startTimer(due: deadline) { [weak self] in self?.giveUp() }
        let connector = LoopBound(self, loop: loop)
        NameResolver.shared.resolve(
            target.origin.host, port: target.origin.port, isUntrusted: target.addresses != .any, before: deadline
        ) { result in
            connector.loop.perform { connector.value.resolved(result) }
        }
    }

    /// Closes the connection, or stops trying to connect.
    func cancel(_ error: NetworkError?) {
        isCancelled = true
        addresses = []
        failure = failure ?? error
        if let connection { connection.close(error) } else { end() }
    }

    private func giveUp() {
        timer = nil
        guard !isOpen else { return }
        cancel(NetworkError(.timedOut, "connecting to \(target.origin) took too long"))
    }

    private func resolved(_ result: Result<[SocketAddress], NetworkError>) {
        guard !isCancelled else { return }
        switch result {
        case .failure(let error): failure = error
        case .success(let resolved):
            var chance = SystemRandomNumberGenerator()
            addresses = NameResolver.order(
                resolved.filter { target.addresses.allow($0, target.origin.scheme) },
                taken: resolved.count > 1 ? taken() : [], using: &chance)
            if addresses.isEmpty, !resolved.isEmpty {
                failure = NetworkError(.forbidden, "policy forbids connecting to the address of \(target.origin)")
            }
        }
        tryNext()
    }

    private func tryNext() {
        guard !addresses.isEmpty, !isCancelled else { return end() }
        let address = addresses.removeFirst()
        let attempt = addresses.isEmpty ? deadline : min(deadline, loop.now + target.limits.attemptTime)
        do throws(NetworkError) {
            let socket = try Socket(address.family)
            try socket.connect(to: address)
            let session = try target.context.map { context throws(NetworkError) in
                try TLSSession(clientOf: context, host: target.origin.host, protocols: Self.offer(target.version))
            }
            let connection = Connection(
                socket, peer: address, isConnected: false, tls: session, loop: loop, setUpDeadline: attempt,
                stallTime: target.limits.stallTime)
            self.connection = connection
            connection.start(owner: self)
        } catch {
            failure = error
            tryNext()
        }
    }

    private static func offer(_ version: TransportSettings.Version) -> [String] {
        switch version {
        case .negotiated: ["h2", "http/1.1"]
        case .http2: ["h2"]
        case .http1: ["http/1.1"]
        }
    }

    func connectionOpened(_ connection: Connection) -> (any WireProtocol)? {
        let selected = connection.selectedProtocol
        let isHTTP2 = target.context == nil ? target.version == .http2 : selected == "h2"
        guard isHTTP2 || target.version != .http2 else {
            failure = NetworkError(.handshake, "\(target.origin) does not speak HTTP/2")
            addresses = []
            return nil
        }
        stopTimer()
        isOpen = true
        return opened(connection, isHTTP2)
    }

    func connectionClosed(_ connection: Connection, error: NetworkError?) {
        self.connection = nil
        failure = error ?? failure
        if isOpen { end() } else { tryNext() }
    }

    private func end() {
        stopTimer()
        closed(failure, isOpen)
    }

    private func stopTimer() {
        if let timer { loop.cancelTimer(timer) }
        timer = nil
    }
}
