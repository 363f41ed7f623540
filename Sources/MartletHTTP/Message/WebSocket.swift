/// The server side of a WebSocket (RFC 6455) after the opening handshake.
///
/// A handler returns `HTTPResponse.webSocket`. The network answers pings and reassembles fragments.
public protocol WebSocket: Sendable {
    /// Waits for the next message. Only one task may wait at a time.
    /// - Returns: Nil after either side has closed the connection.
    func receive() async -> WebSocketMessage?

    /// Passes a message to the connection. Returns once the peer has read enough that another message may be passed.
    /// - Throws: `CancellationError` if the connection is closed.
    func send(_ message: WebSocketMessage) async throws

    /// Closes the WebSocket; nothing more is sent or received. If the closure that serves the WebSocket returns without
    /// calling this function, the connection is closed with code 1000.
    /// - Parameter code: The close code, 1000 to 4999 (RFC 6455, section 7.4).
    func close(code: UInt16)
}

/// A message of a WebSocket: text or bytes (RFC 6455, section 5.6).
public enum WebSocketMessage: Hashable, Sendable {
    case text(String)
    case binary([UInt8])
}

extension HTTPResponse {
    /// Creates the response to a request that opens a WebSocket. The network checks the opening handshake and refuses a
    /// request whose handshake is invalid. Only HTTP/1.1 is supported.
    /// - Parameters:
    ///   - subprotocol: One of the subprotocols that the client offers; nil selects none.
    ///   - serve: Receives and sends messages. The connection is closed when this closure returns.
    public static func webSocket(
        subprotocol: String? = nil, serve: @escaping @Sendable (any WebSocket) async -> Void
    ) -> HTTPResponse {
        var response = HTTPResponse(101, body: .webSocket(serve))
        response.fields["sec-websocket-protocol"] = subprotocol
        return response
    }
}
