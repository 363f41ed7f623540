import MartletHTTP

/// One request of a server session, from its first field until its answer has been sent.
final class HTTP2ServerStream: ResponseStream {
    enum Phase {
        case head
        case body
        /// The request is complete, and somebody answers it.
        case answering
        /// The request was refused: what still comes of it is thrown away.
        case refused
        /// Nothing more is sent or received.
        case gone
    }

    let id: Int32
    var phase = Phase.head
    var collector: HTTP2RequestCollector
    /// From the end of the head until the handler has the request.
    var route: HTTPRoute?
    var running: (any RunningRequest)?
    /// The body, where the handler reads it while it comes.
    var input: RequestBody?
    /// The room for a body that is collected.
    var lease: BodyLease?
    /// Bytes of the body that were given back to the connection's window and not to the stream's.
    var early = 0
    /// The peer waits to be told to send the body.
    var owesContinue = false
    var isHead = false
    /// The answer did not wait for the body, which is so short that it may come after it.
    var mayDropRest = false
    var output = HTTP2BodyBuffer()
    /// Whether all of the answer was given, sent or not.
    var isAnswered = false
    /// A streamed body waits for room.
    var isFull = false
    /// When the request must be complete, or more bytes of the answer must have gone; nil while neither is awaited.
    var deadline: ContinuousClock.Instant?
    /// How much of the answer has gone since its deadline was set.
    var movedBytes = 0
    /// Bytes of the body that were taken and not yet given back to the peer's window.
    var withheld = 0
    private weak var session: HTTP2ServerSession?

    init(id: Int32, session: HTTP2ServerSession, limits: ServerLimits, deadline: ContinuousClock.Instant) {
        self.id = id
        self.session = session
        self.deadline = deadline
        collector = HTTP2RequestCollector(limits: limits)
    }

    /// Bytes of the answer wait for the peer from now on.
    func beginsToWait(until deadline: ContinuousClock.Instant) {
        self.deadline = deadline
        movedBytes = 0
    }

    func send(_ response: HTTPResponse) {
        session?.send(response, on: self)
    }

    func sendHead(_ response: HTTPResponse) {
        session?.sendHead(response, on: self)
    }

    func sendBody(_ bytes: [UInt8]) -> Bool {
        session?.sendBody(bytes, on: self) ?? false
    }

    func finish() {
        session?.finish(self)
    }

    func cut() {
        session?.cut(self)
    }
}

extension HTTP2ServerStream: RequestBodySource {
    var now: ContinuousClock.Instant { session?.now ?? .now }

    func bodyIsWanted(_ body: RequestBody) {
        session?.sendContinue(on: self)
    }

    func bodyIsHeldUp(_ body: RequestBody) {
        if phase != .gone { session?.bodyIsHeldUp() }
    }

    func bodyWasTaken(_ count: Int, of body: RequestBody) {
        if phase == .gone { session?.consumeConnection(count) } else { session?.consume(count, of: self) }
        session?.needsWrite()
    }
}
