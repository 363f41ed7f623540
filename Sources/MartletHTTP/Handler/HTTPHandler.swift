/// What a listener asks for answers.
///
/// The network calls it on the executor of the loop that owns the connection. An answer that needs only memory is given
/// without leaving it; whatever blocks belongs elsewhere.
public protocol HTTPHandler: Sendable {
    /// How a request is taken of which only the head is known. Asked once for each.
    func route(for head: HTTPRequest) -> HTTPRoute
}

/// How a handler takes one request.
public struct HTTPRoute: Sendable {
    /// The largest body, in bytes, that is worth collecting. A longer one is refused with 413 before it is read.
    public var bodyLimit: Int
    /// Whether the body is handed over as `HTTPRequest.stream` while it comes, instead of being collected.
    public var streamsBody: Bool
    /// Answers the request: its body is complete, or a stream. What goes wrong is a response too.
    public var respond: @Sendable (HTTPRequest) async -> HTTPResponse

    public init(
        bodyLimit: Int, streamsBody: Bool = false, respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.bodyLimit = bodyLimit
        self.streamsBody = streamsBody
        self.respond = respond
    }
}

extension HTTPHandler {
    /// Answers a request that is there as a whole.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        await route(for: request).respond(request)
    }
}
