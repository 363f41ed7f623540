/// What a client allows the servers it talks to: sizes in bytes, counts and times.
public struct ClientLimits: Sendable {
    /// Of the status line of HTTP/1.1.
    public var statusLineBytes = 8 * 1024
    /// Of all header fields of a response together.
    public var fieldBytes = 64 * 1024
    public var fieldCount = 200
    /// Of a response's body, where it is collected and not streamed.
    public var bodyBytes = 16 * 1024 * 1024
    /// From the decision to connect to the end of the TLS handshake.
    public var connectTime: Duration = .seconds(10)
    /// For one of several addresses of a name, before the next is tried.
    public var attemptTime: Duration = .seconds(3)
    /// How long a connection is kept without a request.
    public var idleTime: Duration = .seconds(30)
    /// Without the peer taking all of the bytes that wait for it.
    public var stallTime: Duration = .seconds(30)

    public init() {}
}
