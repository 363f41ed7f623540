import MartletHTTP

/// The server side of HTTP/1.1 (RFC 9112) on one connection: one request at a time, with strict parsing.
final class HTTP1Server: WireProtocol {
    enum Phase: Hashable {
        /// No byte of a request has arrived.
        ///
        /// The next phase is `head`.
        case idle
        /// The head is arriving.
        ///
        /// The next phase is `body`, or `answering` if there is no body.
        case head
        /// The body is arriving.
        ///
        /// The next phase is `trailers` after the last chunk, or `answering` when the body is complete.
        ///
        /// If the handler reads the body itself or ignores it, the handler already has the request. If the response
        /// ends before the body, a short rest of the body is dropped and the next phase is `idle`; if the rest is
        /// longer, the next phase is `finished`.
        case body
        case trailers
        /// The handler has the complete request.
        ///
        /// The next phase is `idle`, or `finished`, when the response ends.
        case answering
        /// Nothing more is read; `output` is still sent.
        case finished
    }

    /// The number of bytes that may be kept without a charge to `bodies`, if they arrive before they can be processed.
    static let backlogBytes = 4 * 1024
    /// The maximum number of bytes of an unread body that are dropped so that the connection can be kept.
    static let droppedBytes: UInt64 = 64 * 1024

    unowned let connection: any WireConnection
    let dispatch: any RequestDispatch
    let limits: ServerLimits
    let info: HTTPConnection
    let bodies: ConnectionBodies
    let scannerLimits: HeadScanner.Limits

    var phase = Phase.idle
    let parser = HTTP1Parser(.request)
    var scanner: HeadScanner
    /// The start of a head that arrives in pieces.
    var partialHead: [UInt8] = []
    /// The bytes that arrived while a request was being answered.
    var backlog: [UInt8] = []
    var isConsuming = false
    /// The time when the last response ended, or when the connection began.
    ///
    /// The connection has been idle since then, unless a request has begun.
    var quietSince: ContinuousClock.Instant
    /// The deadline of the current phase.
    var due: ContinuousClock.Instant?

    var head: HTTP1RequestHead?
    var route: HTTPRoute?
    var body: [UInt8] = []
    var bodyLimit = 0
    /// The memory reserved for a collected body.
    var lease: BodyLease?
    var backlogLease: BodyLease?
    var headBytes = 0
    /// The number of body bytes not yet received, if the request has a Content-Length.
    var bodyLeft: UInt64 = 0
    /// True while the rest of the body is dropped unread.
    var isDropping = false
    /// The body of the current request, if its handler reads it as a stream.
    var streamed: RequestBody?
    var owesContinue = false

    var stream: HTTP1ResponseStream?
    var running: (any RunningRequest)?
    var isStreaming = false
    var isLastAnswer = false
    var isDraining = false
    var output: HTTP1Output

    init(
        _ connection: any WireConnection, info: HTTPConnection, dispatch: any RequestDispatch, limits: ServerLimits,
        bodies: ConnectionBodies? = nil
    ) {
        self.connection = connection
        self.dispatch = dispatch
        self.limits = limits
        self.info = info
        self.bodies = bodies ?? ConnectionBodies(alone: limits, connection: info.id)
        output = HTTP1Output(self.bodies, limits: limits)
        scannerLimits = HeadScanner.Limits(
            startLineBytes: limits.targetBytes, fieldBytes: limits.fieldBytes, fieldCount: limits.fieldCount)
        scanner = HeadScanner(scannerLimits)
        // For its first request, a new connection gets `headTime` and not the longer `idleTime`, because a client that
        // connects is expected to send a request at once.
        due = connection.now + limits.headTime
        quietSince = connection.now
    }

    var idleSince: ContinuousClock.Instant? { stream == nil && output.isEmpty ? quietSince : nil }

    var deadline: ContinuousClock.Instant? {
        let others = lease?.retryAt ?? streamed?.deadline
        guard let due, let others else { return due ?? others }
        return min(due, others)
    }

    var now: ContinuousClock.Instant { connection.now }

    var isFinished: Bool { phase == .finished && output.isEmpty }

    var wantsInput: Bool {
        guard backlog.count < Self.backlogBytes, !output.isCongested, !isHeldUp else { return false }
        if isDropping { return mayDropRest }
        return !(isReadingStream && streamed?.isFull == true)
    }

    var inputLimit: Int {
        let limit = bodies.inputLimit
        return limit == .max ? limit : max(1, limit - backlog.count)
    }

    /// True while the collected body waits for memory.
    var isHeldUp: Bool { lease?.isWaiting == true }

    /// True while the handler reads the body of a request as a stream, and the body is still arriving.
    var isReadingStream: Bool { streamed != nil && (phase == .body || phase == .trailers) }

    /// True if the body that is being read as a stream cannot be read further, because it is too long or malformed.
    var isGivenUp: Bool { isReadingStream && streamed?.isOver == true }

    var isAnswering: Bool { stream != nil }

    /// True if the connection can be kept although the body is not read to its end, because the rest is short and the
    /// client will send it.
    var mayDropRest: Bool {
        bodyLeft > 0 && bodyLeft <= Self.droppedBytes && !owesContinue && streamed?.isOver != true
    }

    /// True if the connection must close after the response, because the rest of the body is not read.
    var leavesBody: Bool { (phase == .body || phase == .trailers) && !mayDropRest }

    // MARK: The connection

    func finish() {
        phase = .finished
        due = nil
        lease = nil
        backlogLease = nil
        backlog = []
        connection.needsWrite()
    }

    func write(into output: inout [UInt8], limit: Int) {
        self.output.move(into: &output, limit: limit)
        sendRest()
        consumeBacklog()
        if self.output.reopen() { running?.roomAppeared() }
    }

    func expire(at now: ContinuousClock.Instant) {
        guard let deadline, deadline <= now else { return }
        if isReadingStream { return streamed?.expire(at: now) ?? () }
        if let due, due <= now { return phaseExpired() }
        guard let lease else { return }
        switch lease.retry(at: now) {
        case .granted:
            bodyHasRoom()
            consumeBacklog()
            connection.needsWrite()
        case .waiting: break
        case .refused:
            lease.countRefusal()
            refuse(.overloaded)
        }
    }

    private func phaseExpired() {
        switch phase {
        case .idle: finish()
        case .head where !scanner.hasBegun, .body where isDropping: finish()
        case .head, .body, .trailers: refuse(.timeout)
        case .answering, .finished: due = nil
        }
    }

    func inputEnded() {
        switch phase {
        case .answering,
            .body where stream != nil && streamed == nil:
            isLastAnswer = true
            // A client that half-closes its connection during a streamed response is treated as gone, because the
            // streamed response may never end.
            guard isStreaming else { return }
            let running = running
            cutAnswer()
            running?.cancel()
        case .body where isReadingStream, .trailers where isReadingStream:
            ended()
            connection.needsWrite()
        case .idle, .head, .body, .trailers: finish()
        case .finished: break
        }
    }

    func ended() {
        stream?.detach()
        let running = running
        self.running = nil
        let unread = streamed
        streamed = nil
        lease = nil
        backlogLease = nil
        body = []
        phase = .finished
        due = nil
        output.removeAll()
        backlog = []
        unread?.fail(.disconnected)
        running?.cancel()
    }

    func drain() {
        isDraining = true
        if phase == .idle { finish() }
    }
}

extension HTTP1Server: RequestBodySource {
    func bodyIsWanted(_ body: RequestBody) {
        guard body === streamed else { return }
        sendContinue()
        connection.needsWrite()
    }

    func bodyWasTaken(_ count: Int, of body: RequestBody) {
        if body === streamed { connection.needsWrite() }
    }

    func bodyIsHeldUp(_ body: RequestBody) {
        if body === streamed { connection.needsWrite() }
    }
}
