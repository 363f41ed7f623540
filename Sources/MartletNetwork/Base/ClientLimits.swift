/// The limits that an HTTP client applies to servers: sizes in bytes, counts and times.
public struct ClientLimits: Sendable {
    /// The maximum length of an HTTP/1.1 status line.
    public var statusLineBytes = 8 * 1024
    /// The maximum size of all header fields of a response together.
    public var fieldBytes = 64 * 1024
    public var fieldCount = 200
    /// The maximum size of a response body that is collected in memory, unless the request sets its own maximum
    /// (`HTTPRequest.answerLimit`). Does not apply to streamed bodies.
    public var bodyBytes = 16 * 1024 * 1024
    /// The maximum time to establish a connection, including name resolution and the TLS handshake.
    public var connectTime: Duration = .seconds(10)
    /// The maximum time to wait for a connection to one address before the next address of the same name is tried.
    public var attemptTime: Duration = .seconds(3)
    /// The maximum time for which an HTTP/1.1 connection is kept open without a request.
    public var idleTime: Duration = .seconds(30)
    /// The maximum time for which bytes may wait to be sent because the server does not accept them.
    public var stallTime: Duration = .seconds(30)

    public init() {}
}
