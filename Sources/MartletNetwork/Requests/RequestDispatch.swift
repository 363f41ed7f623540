import MartletHTTP

/// Passes requests from the server side of a protocol to the handler. Used on the connection's loop only.
protocol RequestDispatch: AnyObject {
    /// Returns the route for a request whose head is known.
    func route(for head: HTTPRequest) -> HTTPRoute

    /// Starts answering a request. The response goes to `stream` later on the loop, or before this returns.
    /// - Parameters:
    ///   - route: The route of the request's head.
    ///   - body: The body that the handler reads as a stream; nil if the body is in the request.
    func start(
        _ request: HTTPRequest, by route: HTTPRoute, body: RequestBody?, answerTo stream: any ResponseStream
    ) -> any RunningRequest
}

/// The response to one request: implemented by each protocol.
///
/// Either `send` or `openWebSocket` is called once, or `sendHead`, any number of `sendBody` and then `finish` or `cut`.
/// Every call is a no-op once the peer is gone.
protocol ResponseStream: AnyObject {
    /// Sends a complete response.
    func send(_ response: HTTPResponse)

    /// Sends the status and fields of a response whose body follows in pieces.
    func sendHead(_ response: HTTPResponse)

    /// Sends a piece of the body.
    /// - Returns: True if there is room for more; otherwise `RunningRequest.roomAppeared` is called when there is.
    func sendBody(_ bytes: [UInt8]) -> Bool

    /// Completes the body.
    func finish()

    /// Aborts the body: closes the stream (HTTP/2) or the connection (HTTP/1.1) so that the peer sees the failure.
    func cut()

    /// Switches the connection to a WebSocket.
    /// - Returns: Nil if the request does not open a WebSocket; the peer then gets an error response.
    func openWebSocket(_ response: HTTPResponse) -> WebSocketSession?
}

extension ResponseStream {
    func openWebSocket(_ response: HTTPResponse) -> WebSocketSession? {
        send(WebSocketHandshake.upgradeRequired)
        return nil
    }
}

/// A request that is being answered: gets the events of its stream.
protocol RunningRequest: AnyObject {
    /// There is room for more of a streamed response body.
    func roomAppeared()

    /// The peer is gone or cancelled the request: cancels the handler.
    func cancel()
}
