import MartletHTTP

/// How the server side of a protocol has requests answered. Used on the connection's loop alone.
protocol RequestDispatch: AnyObject {
    /// How a request is taken of which only the head is known.
    func route(for head: HTTPRequest) -> HTTPRoute

    /// Starts answering a request. The answer goes to `stream` later on the loop, or before this returns.
    /// - Parameters:
    ///   - route: That of its head.
    ///   - body: What the handler reads where the body is not in the request; nil where it is.
    func start(
        _ request: HTTPRequest, by route: HTTPRoute, body: RequestBody?, answerTo stream: any ResponseStream
    ) -> any RunningRequest
}

/// Where the answer to one request is written: implemented by each protocol for its own kind of stream.
///
/// Either `send` or `openWebSocket` is called once, or `sendHead`, any number of `sendBody` and then `finish` or `cut`.
/// Every call is a no-op once the peer has gone.
protocol ResponseStream: AnyObject {
    /// Sends an answer whose body is whole.
    func send(_ response: HTTPResponse)

    /// Sends status and fields of an answer whose body follows in pieces.
    func sendHead(_ response: HTTPResponse)

    /// Takes a piece of the body.
    /// - Returns: Whether there is room for more; where not, `RunningRequest.roomAppeared` is called once there is.
    func sendBody(_ bytes: [UInt8]) -> Bool

    /// The body is complete.
    func finish()

    /// The body cannot be completed: the stream (HTTP/2) or connection (HTTP/1.1) ends so that the peer sees it.
    func cut()

    /// Gives the connection over to a WebSocket.
    /// - Returns: nil where the request is not one that opens one, which its answer says then.
    func openWebSocket(_ response: HTTPResponse) -> WebSocketSession?
}

extension ResponseStream {
    func openWebSocket(_ response: HTTPResponse) -> WebSocketSession? {
        send(WebSocketHandshake.upgradeRequired)
        return nil
    }
}

/// A request that is being answered: what the protocol tells about its stream.
protocol RunningRequest: AnyObject {
    /// A streamed body may go on.
    func roomAppeared()

    /// The peer has gone or given the request up: whatever answers it is cancelled.
    func cancel()
}
