import MartletHTTP
import Synchronization

/// Who is told of a connection's beginning and end.
protocol ConnectionOwner: AnyObject {
    /// The connection is made and, with TLS, the handshake done.
    /// - Returns: What is spoken on it, or nil to close it.
    func connectionOpened(_ connection: Connection) -> (any WireProtocol)?

    /// The connection is gone; with an error where that was not by agreement. Called exactly once.
    func connectionClosed(_ connection: Connection, error: NetworkError?)
}

/// A socket, TLS if wanted, and the protocol spoken on it. Owned by its loop.
final class Connection: WireConnection, ReadinessHandler {
    private enum Phase {
        /// Waiting for the socket to be connected. Becomes `handshaking` or `open`.
        case connecting
        case handshaking
        case open
        /// Everything was sent and said; reads on until the peer closes, because closing a socket with unread bytes
        /// would destroy what the peer has not read yet.
        case lingering
        case closed
    }

    private static let bytesPerWrite = 64 * 1024
    private static let readsPerTurn = 4
    private static let writesPerTurn = 8
    private static let lingerTime: Duration = .seconds(2)
    private static let lingerBytes = 1024 * 1024

    let loop: EventLoop
    let id = lastID.wrappingAdd(1, ordering: .relaxed).newValue
    let peer: SocketAddress
    private let stallTime: Duration
    private var phase: Phase
    private var socket: Socket
    private let tls: TLSSession?
    private var registration: Registration?
    private var interest: Readiness = []
    private weak var owner: (any ConnectionOwner)?
    private(set) var wire: (any WireProtocol)?

    private var pending = OutputQueue()
    private var isFlushScheduled = false
    private var isInputOver = false
    private var discarded = 0
    private var timer: (id: TimerID, due: ContinuousClock.Instant)?
    private let createdAt: ContinuousClock.Instant
    /// When connecting, the handshake, a stalled write or lingering ends the connection.
    private var ownDeadline: ContinuousClock.Instant?

    private static let lastID = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - isConnected: False for a socket that is connecting still.
    ///   - setUpDeadline: For connecting and the handshake.
    ///   - stallTime: How long bytes may wait for the peer to take them all.
    init(
        _ socket: consuming Socket, peer: SocketAddress, isConnected: Bool, tls: TLSSession?, loop: EventLoop,
        setUpDeadline: ContinuousClock.Instant, stallTime: Duration
    ) {
        self.loop = loop
        createdAt = loop.now
        self.peer = peer
        self.tls = tls
        self.stallTime = stallTime
        self.socket = socket
        phase = isConnected ? (tls == nil ? .open : .handshaking) : .connecting
        ownDeadline = setUpDeadline
    }

    var now: ContinuousClock.Instant { loop.now }

    /// What a handler is told of this connection.
    func info(majorVersion: Int) -> HTTPConnection {
        HTTPConnection(
            id: id, peer: peer.host, isSecure: tls != nil, majorVersion: majorVersion,
            peerCertificate: tls?.peerCertificate)
    }

    /// How long ago the kernel last took in something of the peer.
    var silence: Duration { socket.silence }

    /// Since when a server's connection has been of no use to its peer; nil while a request is answered.
    var idleSince: ContinuousClock.Instant? {
        guard phase == .open, let wire else { return createdAt }
        return pending.isEmpty ? wire.idleSince : nil
    }

    /// The protocol that ALPN selected, if any.
    var selectedProtocol: String? { tls?.selectedProtocol }

    /// Begins: the owner hears of everything from here on.
    func start(owner: any ConnectionOwner) {
        self.owner = owner
        let first: Readiness = phase == .connecting ? .write : .read
        do throws(NetworkError) {
            registration = try loop.register(socket.descriptor, for: first, handler: self)
            interest = first
        } catch {
            return close(error)
        }
        switch phase {
        case .handshaking: performHandshake()
        case .open: open()
        case .connecting, .lingering, .closed: settle()
        }
    }

    // MARK: events

    func ready(_ readiness: Readiness) {
        switch phase {
        case .connecting: connected()
        case .handshaking: performHandshake()
        case .open: transfer(readiness)
        case .lingering: discard()
        case .closed: break
        }
    }

    private func connected() {
        if let error = socket.pendingError() { return close(error) }
        if peer.family != .unix { socket.setNoDelay() }
        guard tls != nil else { return open() }
        phase = .handshaking
        performHandshake()
    }

    private func performHandshake() {
        guard let tls else { return }
        switch tls.performHandshake(socket.descriptor) {
        case .done: open()
        case .wants(let readiness):
            setInterest(readiness)
            settle()
        case .failed(let error): close(error)
        }
    }

    private func open() {
        phase = .open
        ownDeadline = nil
        guard let wire = owner?.connectionOpened(self) else { return close(nil) }
        self.wire = wire
        needsWrite()
        // The first request may have come with the last bytes of the handshake.
        if tls != nil { transfer(.read) } else { settle() }
    }

    private func transfer(_ readiness: Readiness) {
        if readiness.contains(.read), wire?.wantsInput == true { readSome() }
        guard phase == .open else { return }
        if !readiness.isDisjoint(with: .broken), isInputOver || wire?.wantsInput != true {
            return close(NetworkError(.disconnected, "the peer closed the connection"))
        }
        if readiness.contains(.write) || tls?.isWriteBlockedOnRead == true { needsWrite() }
        settle()
    }

    private func readSome() {
        for _ in 0..<Self.readsPerTurn {
            guard phase == .open, !isInputOver, let wire, wire.wantsInput else { return }
            let goesOn = loop.withInputBuffer { buffer in
                switch tls?.read(into: buffer) ?? socket.read(into: buffer) {
                case .bytes(let count):
                    wire.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    needsWrite()
                    return tls != nil || count == buffer.count
                case .wouldBlock: return false
                case .ended:
                    isInputOver = true
                    wire.inputEnded()
                    needsWrite()
                    return false
                case .failed(let error):
                    close(error)
                    return false
                }
            }
            guard goesOn else { return }
        }
        // What OpenSSL has read already is not announced by the socket again.
        if tls != nil { loop.atEndOfTurn { [weak self] in self?.transfer(.read) } }
    }

    func become(_ wire: any WireProtocol, unread: [UInt8]) {
        guard phase == .open else { return wire.ended() }
        let last = self.wire
        self.wire = wire
        last?.ended()
        unread.withUnsafeBytes { wire.receive($0) }
        if isInputOver { wire.inputEnded() }
        needsWrite()
    }

    // MARK: writing

    func needsWrite() {
        guard !isFlushScheduled, phase == .open else { return }
        isFlushScheduled = true
        loop.atEndOfTurn { self.flush() }
    }

    private func flush() {
        isFlushScheduled = false
        guard phase == .open, let wire else { return }
        sendPending()
        var isDry = false
        var isCorked = false
        var left = Self.writesPerTurn
        loop.withOutputBuffer { buffer in
            while phase == .open, pending.isEmpty, left > 0, !isDry {
                buffer.removeAll(keepingCapacity: true)
                wire.write(into: &buffer, limit: Self.bytesPerWrite)
                isDry = buffer.isEmpty
                if tls != nil, !isCorked, buffer.count > TLSSession.recordBytes {
                    socket.setCorked(true)
                    isCorked = true
                }
                send(buffer)
                left -= 1
            }
        }
        if isCorked { socket.setCorked(false) }
        guard phase == .open else { return }
        if isDry, pending.isEmpty, wire.isFinished { return finish() }
        if left == 0, pending.isEmpty { needsWrite() }
        // A protocol whose input was held back may want it again now.
        if tls?.hasPending == true, wire.wantsInput, !isInputOver {
            loop.atEndOfTurn { [weak self] in self?.transfer(.read) }
        }
        settle()
    }

    private func sendPending() {
        guard !pending.isEmpty else { return }
        let sent = pending.withUnsafeBytes { write($0) }
        pending.drop(sent)
        if pending.isEmpty { ownDeadline = nil }
    }

    private func send(_ bytes: [UInt8]) {
        let sent = bytes.withUnsafeBytes { write($0) }
        guard phase == .open, sent < bytes.count else { return }
        pending.bytes.append(contentsOf: bytes[sent...])
        ownDeadline = now + stallTime
    }

    /// - Returns: How many bytes the socket took.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        var sent = 0
        while sent < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
            switch tls?.write(rest) ?? socket.write(rest) {
            case .bytes(let count): sent += count
            case .wouldBlock: return sent
            case .ended:
                closeOnceHeard(NetworkError(.disconnected, "the peer closed the connection"))
                return sent
            case .failed(let error):
                closeOnceHeard(error)
                return sent
            }
        }
        return sent
    }

    /// A peer that takes nothing more may have said why before: the refusal of a long body, GOAWAY.
    private func closeOnceHeard(_ error: NetworkError) {
        loop.atEndOfTurn {
            if self.wire?.wantsInput == true { self.readSome() }
            self.close(error)
        }
    }

    // MARK: the end

    private func finish() {
        tls?.shutDown()
        socket.shutdownWriting()
        guard !isInputOver else { return close(nil) }
        phase = .lingering
        ownDeadline = now + Self.lingerTime
        let wire = wire
        self.wire = nil
        wire?.ended()
        discard()
    }

    private func discard() {
        for _ in 0..<Self.readsPerTurn {
            let result = loop.withInputBuffer { socket.read(into: $0) }
            guard case .bytes(let count) = result, discarded + count <= Self.lingerBytes else {
                if case .wouldBlock = result { return settle() }
                return close(nil)
            }
            discarded += count
        }
        settle()
    }

    /// Sends bytes behind the protocol's back.
    func inject(_ bytes: [UInt8]) {
        guard phase == .open else { return }
        if pending.isEmpty { send(bytes) } else { pending.bytes.append(contentsOf: bytes) }
        settle()
    }

    /// Closes with a TCP reset.
    func reset() {
        guard phase != .closed else { return }
        socket.abandon()
        close(nil)
    }

    /// Closes at once: what has not been sent is lost.
    func close(_ error: NetworkError?) {
        guard phase != .closed else { return }
        phase = .closed
        if let timer { loop.cancelTimer(timer.id) }
        timer = nil
        if let registration { loop.unregister(registration) }
        registration = nil
        socket = Socket(owning: -1)
        let wire = wire
        self.wire = nil
        wire?.ended()
        owner?.connectionClosed(self, error: error)
    }

    // MARK: what is waited for

    /// Brings what the loop waits for in line with what the protocol wants now.
    private func settle() {
        guard phase != .closed else { return }
        if phase == .open || phase == .lingering {
            var wanted: Readiness = []
            if phase == .lingering || (wire?.wantsInput == true && !isInputOver) { wanted.insert(.read) }
            if !pending.isEmpty { wanted.insert(tls?.isWriteBlockedOnRead == true ? .read : .write) }
            setInterest(wanted)
        }
        armTimer()
    }

    private func setInterest(_ wanted: Readiness) {
        guard wanted != interest, let registration else { return }
        interest = wanted
        loop.update(registration, for: wanted)
    }

    /// A timer that is set already and fires earlier is left: it sets the next one. So a busy connection, whose
    /// deadline moves with every request, touches the timers only now and then.
    private func armTimer() {
        let wireDeadline = wire?.deadline
        guard let later = ownDeadline ?? wireDeadline else { return }
        let due = min(later, wireDeadline ?? later)
        if let timer {
            guard due < timer.due else { return }
            loop.cancelTimer(timer.id)
        }
        timer = (loop.startTimer(due: due) { [weak self] in self?.timerFired() }, due)
    }

    private func timerFired() {
        timer = nil
        if let ownDeadline, ownDeadline <= now {
            return close(phase == .lingering ? nil : NetworkError(.timedOut, "the peer took too long"))
        }
        if let deadline = wire?.deadline, deadline <= now {
            wire?.expire(at: now)
            needsWrite()
        }
        settle()
    }
}
