import CMartletLinux
import MartletHTTP
import Synchronization

/// The owner of a connection, which is notified when the connection opens and closes.
protocol ConnectionOwner: AnyObject {
    /// Called once the connection is established; with TLS, once the handshake is also done.
    /// - Returns: The protocol for the connection; nil closes the connection.
    func connectionOpened(_ connection: Connection) -> (any WireProtocol)?

    /// Called exactly once, when the connection is closed. The error is nil if the connection was closed regularly.
    func connectionClosed(_ connection: Connection, error: NetworkError?)
}

/// A socket, optional TLS, and the protocol on top of them. Owned by its loop.
final class Connection: WireConnection, ReadinessHandler {
    private enum Phase {
        /// The socket is connecting.
        ///
        /// The next phase is `handshaking` or `open`.
        case connecting
        case handshaking
        case open
        /// All output was sent. The connection keeps reading until the peer closes, because closing a socket with
        /// unread bytes would destroy output that the peer has not read yet.
        case lingering
        case closed
    }

    private static let bytesPerWrite = 64 * 1024
    /// The maximum number of bytes per write while the memory for answers is scarce.
    private static let scarceBytesPerWrite = 4 * 1024
    /// The maximum number of reads in one iteration of the loop.
    ///
    /// After `bytesPerTurn` bytes no further read is begun, so that a peer that sends fast does not keep the other
    /// connections of the loop waiting.
    private static let readsPerTurn = 4
    private static let bytesPerTurn = 64 * 1024
    private static let writesPerTurn = 8
    private static let lingerTime: Duration = .seconds(2)
    private static let lingerBytes = 1024 * 1024

    let loop: EventLoop
    let id = lastID.wrappingAdd(1, ordering: .relaxed).newValue
    let peer: SocketAddress
    private let proxy: SocketAddress?
    private let stallTime: Duration
    private var phase: Phase
    private var socket: Socket
    private let tls: TLSSession?
    private var registration: Registration?
    private var interest: Readiness = []
    private weak var owner: (any ConnectionOwner)?
    private(set) var wire: (any WireProtocol)?

    private var pending = OutputQueue()
    /// The lease and the ledger that count the bytes of `pending`; nil for a client's connection.
    private var unsent: (lease: AnswerLease, answers: BodyLedger)?
    private var isFlushScheduled = false
    /// True while a read is scheduled for the end of the loop's iteration.
    private var isReadScheduled = false
    /// The start of the loop's iteration in which this connection has read the maximum for one iteration. Nothing more
    /// is read in that iteration.
    private var exhaustedAt: ContinuousClock.Instant?
    private var isInputOver = false
    private var discarded = 0
    private var timer: (id: TimerID, due: ContinuousClock.Instant)?
    private let createdAt: ContinuousClock.Instant
    /// The deadline for connecting, the handshake, a stalled write or lingering.
    private var ownDeadline: ContinuousClock.Instant?

    private static let lastID = Atomic<UInt64>(0)

    /// Creates a connection on a socket.
    /// - Parameters:
    ///   - peer: The address of the other end of the connection, or of the client that a proxy has named.
    ///   - proxy: The address of the proxy that has named the client; nil if no proxy has done so.
    ///   - isConnected: False for a socket that is still connecting.
    ///   - setUpDeadline: The deadline for connecting and the handshake.
    ///   - stallTime: The maximum time until the peer has accepted all the output that waits.
    init(
        _ socket: consuming Socket, peer: SocketAddress, proxy: SocketAddress? = nil, isConnected: Bool,
        tls: TLSSession?, loop: EventLoop, setUpDeadline: ContinuousClock.Instant, stallTime: Duration
    ) {
        self.loop = loop
        createdAt = loop.now
        self.peer = peer
        self.proxy = proxy
        self.tls = tls
        self.stallTime = stallTime
        self.socket = socket
        phase = isConnected ? (tls == nil ? .open : .handshaking) : .connecting
        ownDeadline = setUpDeadline
    }

    var now: ContinuousClock.Instant { loop.now }

    /// Returns the description of this connection for handlers.
    func info(majorVersion: Int) -> HTTPConnection {
        HTTPConnection(
            id: id, peer: peer.host, isSecure: tls != nil, majorVersion: majorVersion,
            peerCertificate: tls?.peerCertificate,
            user: peer.family == .unix ? UInt32(exactly: martlet_peer_user(socket.descriptor)) : nil,
            proxy: proxy?.host)
    }

    /// The time since the kernel last received data from the peer.
    var silence: Duration { socket.silence }

    /// The time when a server's connection became idle; nil while a request is being answered.
    var idleSince: ContinuousClock.Instant? {
        guard phase == .open, let wire else { return createdAt }
        return pending.isEmpty ? wire.idleSince : nil
    }

    /// The protocol that ALPN selected, if any.
    var selectedProtocol: String? { tls?.selectedProtocol }

    /// Starts the connection. The owner may be called from now on.
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

    /// From now on, charges the output that the socket has not accepted yet to the memory for answers.
    func countsUnsent(_ bodies: ConnectionBodies) {
        unsent = (AnswerLease(bodies), bodies.answers)
    }

    // MARK: Events

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
        // With TLS, the connection reads at once, because the first request may have arrived with the last bytes of the
        // handshake.
        if tls != nil { transfer(.read) } else { settle() }
    }

    private func transfer(_ readiness: Readiness) {
        if readiness.contains(.read), wire?.wantsInput == true {
            if exhaustedAt == now { readLater() } else { readSome() }
        }
        guard phase == .open else { return }
        if !readiness.isDisjoint(with: .broken), isInputOver || wire?.wantsInput != true {
            return close(NetworkError(.disconnected, "the peer closed the connection"))
        }
        if readiness.contains(.write) || tls?.isWriteBlockedOnRead == true { needsWrite() }
        settle()
    }

    private func readSome() {
        var left = Self.bytesPerTurn
        for _ in 0..<Self.readsPerTurn where left > 0 {
            guard phase == .open, !isInputOver, let wire, wire.wantsInput else { return }
            let limit = wire.inputLimit
            let goesOn = loop.withInputBuffer { buffer in
                let buffer = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(limit))
                switch tls?.read(into: buffer) ?? socket.read(into: buffer) {
                case .bytes(let count):
                    left -= count
                    wire.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    needsWrite()
                    // A short read has emptied the socket, so another read would be a needless system call.
                    return tls.map { $0.hasPending || count >= TLSSession.recordBytes } ?? (count == buffer.count)
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
        exhaustedAt = now
        readLater()
    }

    /// Schedules a read for the end of the loop's iteration if OpenSSL holds input that it has already read, because
    /// the socket does not report such input.
    private func readLater() {
        guard tls?.hasPending == true, !isReadScheduled, phase == .open else { return }
        isReadScheduled = true
        loop.atEndOfTurn { [weak self] in
            self?.isReadScheduled = false
            self?.transfer(.read)
        }
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

    // MARK: Writing

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
        let limit = unsent?.answers.isCrowded == true ? Self.scarceBytesPerWrite : Self.bytesPerWrite
        loop.withOutputBuffer { buffer in
            while phase == .open, pending.isEmpty, left > 0, !isDry {
                buffer.removeAll(keepingCapacity: true)
                wire.write(into: &buffer, limit: limit)
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
        // A protocol that wanted no input before may want input now, so input that OpenSSL already holds is read.
        if wire.wantsInput, !isInputOver { readLater() }
        settle()
    }

    private func sendPending() {
        guard !pending.isEmpty else { return }
        let sent = pending.withUnsafeBytes { write($0) }
        pending.drop(sent)
        if pending.isEmpty { ownDeadline = nil }
        unsent?.lease.hold(pending.count)
    }

    private func send(_ bytes: [UInt8]) {
        let sent = bytes.withUnsafeBytes { write($0) }
        guard phase == .open, sent < bytes.count else { return }
        pending.bytes.append(contentsOf: bytes[sent...])
        ownDeadline = now + stallTime
        unsent?.lease.hold(pending.count)
    }

    /// Writes bytes to the socket.
    /// - Returns: The number of bytes that the socket accepted.
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

    /// Reads once more before closing the connection.
    ///
    /// A peer that accepts no more data may have sent the reason for this, such as the refusal of a long body, or
    /// GOAWAY.
    private func closeOnceHeard(_ error: NetworkError) {
        loop.atEndOfTurn {
            if self.wire?.wantsInput == true { self.readSome() }
            self.close(error)
        }
    }

    // MARK: Closing

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

    /// Sends bytes to the peer directly, bypassing the protocol.
    func inject(_ bytes: [UInt8]) {
        guard phase == .open else { return }
        if pending.isEmpty { send(bytes) } else { pending.bytes.append(contentsOf: bytes) }
        settle()
    }

    /// Closes the connection with a TCP reset.
    func reset() {
        guard phase != .closed else { return }
        socket.abandon()
        close(nil)
    }

    /// Closes the connection at once. Output that the socket has not accepted yet is lost.
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

    // MARK: Readiness and timers

    /// Updates the events and the timer that the loop waits for, according to what the protocol wants now.
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

    /// Sets the timer for the next deadline. An existing timer that fires earlier is kept, and sets the next timer when
    /// it fires. So a busy connection, whose deadline moves with every request, rarely changes its timer.
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
