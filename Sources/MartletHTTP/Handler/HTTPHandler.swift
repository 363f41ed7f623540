/// What a listener asks for answers.
///
/// The network calls it on the executor of the loop that owns the connection. An answer that needs only memory is given
/// without leaving it; whatever blocks belongs elsewhere.
public protocol HTTPHandler: Sendable {
    /// Decides on its head how a request is taken: what needs no waiting (signature, right, rate) is checked here, so that
    /// a refused request costs its head. Asked once for each request.
    func route(for head: HTTPRequest) -> HTTPRoute
}

/// How a handler takes one request.
public struct HTTPRoute: Sendable {
    /// What becomes of the body of a request.
    public enum Body: Hashable, Sendable {
        /// The answer does not depend on it: the request is answered on its head, and the body is dropped unread.
        case ignored
        /// It is collected in `HTTPRequest.body` before the request is answered.
        case collected
        /// The request is answered on its head, and reads the body from `HTTPRequest.stream`.
        case streamed
    }

    public var body: Body
    /// The largest body, in bytes, that is worth reading. A longer one is refused with 413 before it is read.
    public var bodyLimit: Int
    /// Whose share of the memory for bodies this body uses.
    public var account: HTTPBodyAccount
    /// Answers the request. What goes wrong is a response too.
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

    /// Answers on the head, whatever the body is.
    public init(ignoringBody respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) {
        self.init(bodyLimit: 0, respond: respond)
        body = .ignored
    }

    /// A refusal: the answer is known and the body is not read.
    public init(refusing response: HTTPResponse) {
        self.init(ignoringBody: { _ in response })
    }
}

extension HTTPHandler {
    /// Answers a request that is there as a whole.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        await route(for: request).respond(request)
    }
}
