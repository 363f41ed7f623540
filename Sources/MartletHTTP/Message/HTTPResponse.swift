/// A response: as a handler answers it, or as a client received it whole.
public struct HTTPResponse: Sendable {
    public var status: HTTPStatus
    public var fields: HTTPFields
    public var body: HTTPBody

    public init(_ status: HTTPStatus, fields: HTTPFields = [:], body: HTTPBody = .bytes([])) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The body where it is whole; empty where it is not.
    public var bytes: [UInt8] {
        switch body {
        case .bytes(let bytes): bytes
        case .stream, .webSocket: []
        }
    }
}

/// The body of a response.
public enum HTTPBody: Sendable {
    /// All of it; the network adds `content-length`.
    case bytes([UInt8])
    /// Written piece by piece: server-sent events, files. The closure runs on the connection's loop after the head was
    /// sent, and not at all for HEAD; the body ends when it returns, and the connection (HTTP/1.1) or stream (HTTP/2) is
    /// cut when it throws. Where a length is stated it becomes `content-length`, and a body of another length is cut.
    case stream(length: Int? = nil, @Sendable (any HTTPBodyWriter) async throws -> Void)
    /// No body: messages both ways from here on. See `HTTPResponse.webSocket`.
    case webSocket(@Sendable (any WebSocket) async -> Void)
}

/// Where a streamed body is written.
public protocol HTTPBodyWriter: Sendable {
    /// Hands bytes to the connection and returns once there is room for more.
    /// - Throws: `CancellationError` when the peer has gone or the server shuts down.
    func write(_ bytes: [UInt8]) async throws
}
