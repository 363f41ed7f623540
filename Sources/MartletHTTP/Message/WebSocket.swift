/// A connection that messages go over both ways, once a request has opened it (RFC 6455): the server's side.
///
/// A handler answers with `HTTPResponse.webSocket`. Pings are answered and fragments put together by the network.
public protocol WebSocket: Sendable {
    /// Waits for the next message. For one task at a time.
    /// - Returns: nil once the connection is closed, by whomever.
    func receive() async -> WebSocketMessage?

    /// Hands a message to the connection and returns once there is room for more.
    /// - Throws: `CancellationError` when the connection is closed.
    func send(_ message: WebSocketMessage) async throws

    /// Says goodbye; nothing is received or sent any more. Without it a connection is closed with 1000 when the closure
    /// that serves it returns.
    /// - Parameter code: 1000 to 4999 (RFC 6455, section 7.4).
    func close(code: UInt16)
}

/// One message of a WebSocket.
public enum WebSocketMessage: Hashable, Sendable {
    case text(String)
    case binary([UInt8])
}

extension HTTPResponse {
    /// The answer to a request that opens a WebSocket. The network checks the opening handshake, and refuses one that is
    /// none in this place; HTTP/1.1 alone has it here.
    /// - Parameters:
    ///   - subprotocol: Of those that the client offers; nil names none.
    ///   - serve: Receives and sends until it returns, which closes the connection.
    public static func webSocket(
        subprotocol: String? = nil, serve: @escaping @Sendable (any WebSocket) async -> Void
    ) -> HTTPResponse {
        var response = HTTPResponse(101, body: .webSocket(serve))
        response.fields["sec-websocket-protocol"] = subprotocol
        return response
    }
}
