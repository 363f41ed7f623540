/// An HTTP response: as a handler returns it, or complete, as a client received it.
public struct HTTPResponse: Sendable {
    public var status: HTTPStatus
    public var fields: HTTPFields
    public var body: HTTPBody
    /// True if the bytes of the body are kept for every such answer, so that one that is not read takes no memory.
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

/// The body of a response.
public enum HTTPBody: Sendable {
    /// The complete body; the network adds `content-length`.
    case bytes([UInt8])
    /// A streamed body, such as server-sent events or a file. The closure runs on the connection's loop after the head
    /// was sent, and not at all for HEAD. The body ends when the closure returns; if it throws, the connection
    /// (HTTP/1.1) or stream (HTTP/2) is aborted. A stated length becomes `content-length`; a body of another length is
    /// aborted.
    case stream(length: Int? = nil, @Sendable (any HTTPBodyWriter) async throws -> Void)
    /// No body: the connection becomes a WebSocket. See `HTTPResponse.webSocket`.
    case webSocket(@Sendable (any WebSocket) async -> Void)
}

/// Writes a streamed body.
public protocol HTTPBodyWriter: Sendable {
    /// Passes bytes to the connection and returns once there is room for more.
    /// - Throws: `CancellationError` if the peer is gone or the server shuts down.
    func write(_ bytes: [UInt8]) async throws
}
