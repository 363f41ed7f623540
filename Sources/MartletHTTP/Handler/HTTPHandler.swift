/// Answers the requests of a listener.
///
/// The network calls the handler on the executor of the loop that owns the connection. A response that needs only
/// memory is computed there; blocking work must run elsewhere.
public protocol HTTPHandler: Sendable {
    /// Returns the route for a request, by its head. Checks that need no waiting (signature, right, rate) belong here,
    /// so that a refused request costs only its head. Called once for each request.
    func route(for head: HTTPRequest) -> HTTPRoute
}

/// How a handler takes one request.
public struct HTTPRoute: Sendable {
    /// How the body of a request is handled.
    public enum Body: Hashable, Sendable {
        /// The response does not depend on the body: the request is answered by its head, and the body is dropped
        /// unread.
        case ignored
        /// The body is collected in `HTTPRequest.body` before the request is answered.
        case collected
        /// The handler gets the request after its head, and reads the body from `HTTPRequest.stream`.
        case streamed
    }

    public var body: Body
    /// The largest accepted body, in bytes. A longer one is refused with 413 before it is read.
    public var bodyLimit: Int
    /// The account whose share of the memory for bodies this body uses.
    public var account: HTTPBodyAccount
    /// The route with parameter names in place of their values, for the log; nil where no route matched.
    public var pattern: String?
    /// Answers the request. Errors are responses too.
    public var respond: @Sendable (HTTPRequest) async -> HTTPResponse

    public init(
        bodyLimit: Int, streamsBody: Bool = false, account: HTTPBodyAccount = .address,
        respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.bodyLimit = bodyLimit
        self.account = account
        self.respond = respond
        body = streamsBody ? .streamed : .collected
    }

    /// Creates a route that answers by the head and ignores the body.
    public init(ignoringBody respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) {
        self.init(bodyLimit: 0, respond: respond)
        body = .ignored
    }

    /// Creates a route that refuses a request; the body is not read.
    public init(refusing response: HTTPResponse) {
        self.init(ignoringBody: { _ in response })
    }
}

extension HTTPHandler {
    /// Answers a complete request.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        await route(for: request).respond(request)
    }
}
