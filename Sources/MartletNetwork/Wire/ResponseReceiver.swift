import MartletHTTP

/// What the client side of a protocol tells about the answer to one request, on the connection's loop.
///
/// `receivedHead` once, any number of `receivedBody`, then `finished`; or `failed` at any time. One of the last two is
/// called exactly once, and nothing after it.
protocol ResponseReceiver: AnyObject {
    /// The final status and fields (1xx answers are swallowed); the body of the response is empty here.
    func receivedHead(_ head: HTTPResponse)
    func receivedBody(_ bytes: UnsafeRawBufferPointer)
    func finished()
    func failed(_ error: TransportError)
}

/// The client side of a protocol on one connection.
protocol ClientProtocol: WireProtocol {
    /// How many requests may be started now: 0 where the peer's limit is reached or the connection takes none any more.
    var capacity: Int { get }

    /// Whether requests may be started on this connection, now or later.
    var isOpen: Bool { get }

    /// Whether it carries no request.
    var isIdle: Bool { get }

    /// Whether the peer has shown that it answers, so that it is no use to wait for that before making another
    /// connection.
    var hasAnswered: Bool { get }

    /// How many requests the peer has answered.
    var answerCount: Int { get }

    /// When the last of them was; nil where that is not measured.
    var answeredAt: ContinuousClock.Instant? { get }

    /// How long the answers take that come now; nil where that is not measured.
    var roundTrip: Duration? { get }

    /// Whether what it carries waits for the peer's windows, so that another request would not go out either.
    var isHeldBack: Bool { get }

    /// How many requests of batches it has in flight at most; nil where it carries one at a time.
    var inFlightLimit: Int? { get }

    /// Lets it have as many in flight, however long the peer takes.
    func limitInFlight(toAtLeast least: Int)

    /// Starts a request; called with `capacity` above 0.
    /// - Returns: A number that names it in `cancel`.
    func start(_ request: HTTPRequest, to origin: HTTPOrigin, receiver: any ResponseReceiver) -> UInt64

    /// Gives a request up: its deadline has passed or nobody waits for it. Its receiver hears nothing more.
    /// - Parameter isLate: Whether its deadline has passed.
    func cancel(_ request: UInt64, isLate: Bool)

    /// Draws requests from a batch whenever there is capacity, until it has no more; single requests go first.
    func draw(from run: BatchRun)
}

extension ClientProtocol {
    var answeredAt: ContinuousClock.Instant? { nil }
    var roundTrip: Duration? { nil }
    var isHeldBack: Bool { false }
    var inFlightLimit: Int? { nil }
    func limitInFlight(toAtLeast least: Int) {}
}

/// Who is told when a client protocol can take more requests, or no longer any: the pool that owns it.
protocol ClientProtocolOwner: AnyObject {
    /// `capacity` rose or `isOpen` fell. Called at most once per call into the protocol.
    func capacityChanged()
}
