import MartletHTTP

/// One request of a server session, from its first field until its response has been sent.
final class HTTP2ServerStream: ResponseStream {
    enum Phase {
        case head
        case body
        /// The request is complete and being answered.
        case answering
        /// The request was refused, and the rest of it is dropped.
        case refused
        /// Nothing more is sent or received.
        case gone
    }

    let id: Int32
    var phase = Phase.head
    var collector: HTTP2RequestCollector
    /// The route, from the end of the head until the handler has the request.
    var route: HTTPRoute?
    var running: (any RunningRequest)?
    /// The body, if the handler reads it as a stream.
    var input: RequestBody?
    /// The memory reserved for a collected body.
    var lease: BodyLease?
    /// The number of body bytes for which the connection's window was opened, but not the stream's window.
    var early = 0
    /// True if the peer waits for 100 Continue.
    var owesContinue = false
    var isHead = false
    /// True if the response did not wait for the body and the rest of the body is short.
    ///
    /// The rest is then dropped as it arrives. Otherwise the stream is reset after the response.
    var mayDropRest = false
    var output = HTTP2BodyBuffer()
    /// The memory reserved for the response, from the start of the handler until the response has been sent.
    var answer: AnswerLease?
    /// True once the handler has completed the response, whether or not it has been sent.
    var isAnswered = false
    /// True while the next piece of a streamed response must wait until the peer has read some of the response.
    var isFull = false
    /// The time when the request must be complete, or when more of the response must have been sent; nil if there is no
    /// deadline.
    var deadline: ContinuousClock.Instant?
    /// The number of response bytes sent since the deadline was set.
    var movedBytes = 0
    /// The number of received body bytes for which the peer has not got a WINDOW_UPDATE yet, because these frames are
    /// withheld.
    var withheld = 0
    private weak var session: HTTP2ServerSession?

    init(id: Int32, session: HTTP2ServerSession, limits: ServerLimits, deadline: ContinuousClock.Instant) {
        self.id = id
        self.session = session
        self.deadline = deadline
        collector = HTTP2RequestCollector(limits: limits)
    }

    /// Sets the deadline for sending waiting response bytes.
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
