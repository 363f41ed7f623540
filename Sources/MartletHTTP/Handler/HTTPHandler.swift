/// What a listener asks for answers.
///
/// The network calls it on the executor of the loop that owns the connection. An answer that needs only memory is given
/// without leaving it; whatever blocks belongs elsewhere.
public protocol HTTPHandler: Sendable {
    /// The largest body, in bytes, that is worth collecting for a request of which only the head is known. A longer one
    /// is refused with 413 before it is read.
    func bodyLimit(for head: HTTPRequest) -> Int

    /// Whether the body of a request of which only the head is known is handed over as `HTTPRequest.stream` while it
    /// comes, instead of being collected. Asked for requests with a body alone.
    func streamsBody(for head: HTTPRequest) -> Bool

    /// Answers one request: its body is complete, or a stream. What goes wrong is a response too.
    func respond(to request: HTTPRequest) async -> HTTPResponse
}

extension HTTPHandler {
    public func streamsBody(for head: HTTPRequest) -> Bool { false }
}
