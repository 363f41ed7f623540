/// Limits of an HTTP client for the servers that it connects to: sizes in bytes, counts and times.
public struct ClientLimits: Sendable {
    /// The longest status line of HTTP/1.1.
    public var statusLineBytes = 8 * 1024
    /// The size of all header fields of a response together.
    public var fieldBytes = 64 * 1024
    public var fieldCount = 200
    /// The longest response body that is collected in memory. Does not apply to streamed bodies.
    public var bodyBytes = 16 * 1024 * 1024
    /// The time to connect, including name resolution and the TLS handshake.
    public var connectTime: Duration = .seconds(10)
    /// The time to connect to one of several addresses of a name before the next address is tried.
    public var attemptTime: Duration = .seconds(3)
    /// How long an HTTP/1.1 connection is kept open without a request.
    public var idleTime: Duration = .seconds(30)
    /// How long bytes may wait to be sent before the server has taken all of them.
    public var stallTime: Duration = .seconds(30)

    public init() {}
}
