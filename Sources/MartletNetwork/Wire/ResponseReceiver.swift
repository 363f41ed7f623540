import MartletHTTP

/// Receives the response to one request, on the connection's loop.
///
/// `receivedHead` is called once, then `receivedBody` any number of times, then `finished`. `failed` may be called
/// instead at any time. Exactly one of `finished` and `failed` is called, once, and no method is called after it.
protocol ResponseReceiver: AnyObject {
    /// The maximum size of the body, in bytes; nil if the body is passed on as it arrives, without a limit.
    ///
    /// If more bytes arrive, the connection is ended. The protocol reads this property only after it has called
    /// `receivedHead`.
    var bodyLimit: Int? { get }
    /// Called with the final status and fields, without a body. Responses with a status of 1xx are discarded.
    func receivedHead(_ head: HTTPResponse)
    func receivedBody(_ bytes: UnsafeRawBufferPointer)
    func finished()
    func failed(_ error: TransportError)
}

/// The client side of HTTP/1.1 (`HTTP1Client`) or of HTTP/2 (`BulkSession`) on one connection.
protocol ClientProtocol: WireProtocol {
    /// The number of requests that may be started now. 0 if the peer's limit is reached or the connection accepts no
    /// more requests.
    var capacity: Int { get }

    /// True if requests may be started on this connection now or later.
    var isOpen: Bool { get }

    /// True if the connection was ended because the peer sent more than any answer needs, such as a flood of frames or
    /// chunks.
    var hasMisbehaved: Bool { get }

    /// The reason that the peer gave for ending the connection (GOAWAY); nil if the peer gave none.
    var endReason: String? { get }

    /// True if the connection carries no request.
    var isIdle: Bool { get }

    /// True if the peer is known to answer on this connection, so that further connections need not wait for a first
    /// answer.
    var hasAnswered: Bool { get }

    /// The number of requests that the peer has answered.
    var answerCount: Int { get }

    /// The time when the last answer arrived; nil if not measured.
    var answeredAt: ContinuousClock.Instant? { get }

    /// The latency of recent answers; nil if not measured.
    var roundTrip: Duration? { get }

    /// True if the requests on the connection are waiting for the peer's flow-control windows, so that another request
    /// would also have to wait.
    var isHeldBack: Bool { get }

    /// The in-flight limit for batch requests; nil if the connection carries one request at a time.
    var inFlightLimit: Int? { get }

    /// Sets the minimum of the in-flight limit. The limit never falls below it, however slow the peer is.
    func limitInFlight(toAtLeast least: Int)

    /// Starts a request. `capacity` must be greater than 0.
    /// - Returns: A number that identifies the request in `cancel`.
    func start(_ request: HTTPRequest, to origin: HTTPOrigin, receiver: any ResponseReceiver) -> UInt64

    /// Cancels a request because its deadline has passed or its caller no longer waits. Its receiver gets no more
    /// calls.
    /// - Parameter isLate: Whether the request's deadline has passed.
    func cancel(_ request: UInt64, isLate: Bool)

    /// Draws requests from a batch whenever there is capacity, until the batch has no more. Single requests are sent
    /// first.
    func draw(from run: BatchRun)
}

extension ClientProtocol {
    var answeredAt: ContinuousClock.Instant? { nil }
    var roundTrip: Duration? { nil }
    var isHeldBack: Bool { false }
    var inFlightLimit: Int? { nil }
    var hasMisbehaved: Bool { false }
    var endReason: String? { nil }
    func limitInFlight(toAtLeast least: Int) {}
}

/// The owner of a client protocol: the pool, which is notified of changes in the protocol's capacity.
protocol ClientProtocolOwner: AnyObject {
    /// Called when `capacity` has increased or `isOpen` has become false, at most once per call into the protocol.
    func capacityChanged()

    /// True if single requests wait for capacity. Single requests are sent before the items of batches.
    var hasSingleRequests: Bool { get }
}
