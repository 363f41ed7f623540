import MartletHTTP

/// Receives the response to one request, on the connection's loop.
///
/// Gets `receivedHead` once, any number of `receivedBody`, then `finished`; or `failed` at any time. One of the last
/// two is called exactly once, and nothing after it.
protocol ResponseReceiver: AnyObject {
    /// Called with the final status and fields, without a body. 1xx responses are dropped.
    func receivedHead(_ head: HTTPResponse)
    func receivedBody(_ bytes: UnsafeRawBufferPointer)
    func finished()
    func failed(_ error: TransportError)
}

/// The client side of a protocol on one connection.
protocol ClientProtocol: WireProtocol {
    /// The number of requests that may be started now: 0 if the peer's limit is reached or the connection takes no
    /// more.
    var capacity: Int { get }

    /// True if requests may be started on this connection, now or later.
    var isOpen: Bool { get }

    /// True if the connection carries no request.
    var isIdle: Bool { get }

    /// True if the peer is known to answer on this connection, so further connections need not wait for a first answer.
    var hasAnswered: Bool { get }

    /// The number of requests that the peer has answered.
    var answerCount: Int { get }

    /// When the last answer arrived; nil if not measured.
    var answeredAt: ContinuousClock.Instant? { get }

    /// The latency of recent answers; nil if not measured.
    var roundTrip: Duration? { get }

    /// True if the requests on the connection wait for the peer's windows, so that another request would have to wait
    /// too.
    var isHeldBack: Bool { get }

    /// The in-flight limit for batch requests; nil if the connection carries one request at a time.
    var inFlightLimit: Int? { get }

    /// Raises the lower bound of the in-flight limit, however slow the peer is.
    func limitInFlight(toAtLeast least: Int)

    /// Starts a request. `capacity` must be above 0.
    /// - Returns: A number that identifies the request in `cancel`.
    func start(_ request: HTTPRequest, to origin: HTTPOrigin, receiver: any ResponseReceiver) -> UInt64

    /// Cancels a request whose deadline has passed or whose caller no longer waits. Its receiver gets no more calls.
    /// - Parameter isLate: Whether its deadline has passed.
    func cancel(_ request: UInt64, isLate: Bool)

    /// Draws requests from a batch whenever there is capacity, until the batch has no more. Single requests go first.
    func draw(from run: BatchRun)
}

extension ClientProtocol {
    var answeredAt: ContinuousClock.Instant? { nil }
    var roundTrip: Duration? { nil }
    var isHeldBack: Bool { false }
    var inFlightLimit: Int? { nil }
    func limitInFlight(toAtLeast least: Int) {}
}

/// Gets changes of a client protocol's capacity: the pool that owns the protocol.
protocol ClientProtocolOwner: AnyObject {
    /// Called when `capacity` rose or `isOpen` became false, at most once per call into the protocol.
    func capacityChanged()
}
