/// An HTTP response that a handler returns, or a complete response that a client received.
public struct HTTPResponse: Sendable {
    public var status: HTTPStatus
    public var fields: HTTPFields
    public var body: HTTPBody
    /// True if the bytes of the body are kept in memory anyway and shared by all answers with this body, so that an
    /// unread answer uses no extra memory.
    public var isShared = false

    public init(_ status: HTTPStatus, fields: HTTPFields = [:], body: HTTPBody = .bytes([])) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The body if it is complete; empty if it is streamed.
    public var bytes: [UInt8] {
        switch body {
        case .bytes(let bytes): bytes
        case .stream, .webSocket: []
        }
    }
}

/// The body of a response: complete bytes, a stream, or none because the connection becomes a WebSocket.
public enum HTTPBody: Sendable {
    /// The complete body; the network adds `content-length`.
    case bytes([UInt8])
    /// A streamed body, such as server-sent events or a file. The closure runs on the connection's loop after the head
    /// was sent; for HEAD it does not run at all. The body ends when the closure returns. If the closure throws, the
    /// connection (HTTP/1.1) or stream (HTTP/2) is aborted. A stated length becomes `content-length`; a body with a
    /// different length is aborted.
    case stream(length: Int? = nil, @Sendable (any HTTPBodyWriter) async throws -> Void)
    /// No body: the connection becomes a WebSocket. See `HTTPResponse.webSocket`.
    case webSocket(@Sendable (any WebSocket) async -> Void)
}

/// Writes the body of a response piece by piece.
public protocol HTTPBodyWriter: Sendable {
    /// Passes bytes to the connection. Returns once the peer has read enough that further bytes may be passed.
    /// - Throws: `CancellationError` if the peer is gone or the server shuts down.
    func write(_ bytes: [UInt8]) async throws
}
