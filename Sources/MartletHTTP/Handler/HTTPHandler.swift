/// Answers the requests of a listener.
///
/// The network calls the handler on the executor of the loop that owns the connection. A response that needs no I/O is
/// computed on that executor; blocking work must run on another one.
public protocol HTTPHandler: Sendable {
    /// Returns the route for a request, given its head. Checks that do not wait (signature, rights, rate) belong here,
    /// so that a refused request costs no more than reading its head. Called once for each request.
    func route(for head: HTTPRequest) -> HTTPRoute
}

/// The way in which a handler processes one request.
public struct HTTPRoute: Sendable {
    /// The way in which the body of a request is handled.
    public enum Body: Hashable, Sendable {
        /// The response does not depend on the body: the request is answered after its head, and the body is discarded
        /// unread.
        case ignored
        /// The body is collected in `HTTPRequest.body` before the request is answered.
        case collected
        /// The handler is called after the head has arrived, and reads the body from `HTTPRequest.stream`.
        case streamed
    }

    public var body: Body
    /// The maximum size of the body, in bytes. If `Content-Length` is larger, the request is refused with 413 before
    /// its body is read. If the length is not stated, the request fails as soon as its body is larger.
    public var bodyLimit: Int
    /// The account that is charged for the memory of the body.
    public var account: HTTPBodyAccount
    /// The pattern of the route, which has parameter names instead of values, for the log; nil if no route matched.
    public var pattern: String?
    /// Returns the response to the request. The closure also turns errors into responses.
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

    /// Creates a route that answers after the head and ignores the body.
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
    /// Answers a request without a server. The body must already be in `HTTPRequest.body`. Used by tests, and by
    /// commands that work offline.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        await route(for: request).respond(request)
    }
}
