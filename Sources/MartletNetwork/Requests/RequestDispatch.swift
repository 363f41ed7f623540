import MartletHTTP

/// Passes requests from the server side of a protocol to the handler. Used only on the connection's loop.
protocol RequestDispatch: AnyObject {
    /// Returns the route for a request whose head is known.
    func route(for head: HTTPRequest) -> HTTPRoute

    /// Starts answering a request. The response is sent to `stream` on the loop, either later or before this method
    /// returns.
    /// - Parameters:
    ///   - route: The route of the request's head.
    ///   - body: The body that the handler reads as a stream; nil if the request already contains the body.
    func start(
        _ request: HTTPRequest, by route: HTTPRoute, body: RequestBody?, answerTo stream: any ResponseStream
    ) -> any RunningRequest
}

/// The response to one request, implemented by each protocol.
///
/// The caller makes one of three series of calls: one call of `send`; one call of `openWebSocket`; or `sendHead`, then
/// `sendBody` any number of times, then `finish` or `cut`. Every call is a no-op once the peer is gone.
protocol ResponseStream: AnyObject {
    /// Sends a complete response.
    func send(_ response: HTTPResponse)

    /// Sends the status and fields of a response whose body is sent in pieces afterwards.
    func sendHead(_ response: HTTPResponse)

    /// Sends a piece of the body.
    /// - Returns: True if more can be sent now. Otherwise `RunningRequest.roomAppeared` is called as soon as more can
    ///   be sent.
    func sendBody(_ bytes: [UInt8]) -> Bool

    /// Completes the body of the response.
    func finish()

    /// Aborts the body by closing the stream (HTTP/2) or the connection (HTTP/1.1), so that the peer notices the
    /// failure.
    func cut()

    /// Switches the connection to a WebSocket.
    /// - Returns: The session; nil if the request does not open a WebSocket. The peer then gets an error response.
    func openWebSocket(_ response: HTTPResponse) -> WebSocketSession?
}

extension ResponseStream {
    func openWebSocket(_ response: HTTPResponse) -> WebSocketSession? {
        send(WebSocketHandshake.upgradeRequired)
        return nil
    }
}

/// A request that is being answered. It receives the events of its stream.
protocol RunningRequest: AnyObject {
    /// Called when more of a streamed response body can be sent.
    func roomAppeared()

    /// Cancels the handler, because the peer is gone or has cancelled the request.
    func cancel()
}
