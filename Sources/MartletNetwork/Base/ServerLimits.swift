public import MartletHTTP

/// Limits of an HTTP server for its clients: sizes in bytes, counts and times.
public struct ServerLimits: Sendable {
    /// The maximum number of connections of all listeners of a server together. Near this limit, the connections that
    /// have been idle for longest are closed. If none is idle, new connections wait in the kernel's accept queue.
    public var connections = 10_000
    /// The maximum number of connections of one network (`PeerNetwork`). The limit does not apply to this machine and
    /// to trusted proxies. Connections above the limit are closed at once.
    public var connectionsPerNetwork = 1000
    /// The maximum length of the request line of HTTP/1.1, or of `:path` of HTTP/2.
    ///
    /// A request with a longer line or path is answered with 414.
    public var targetBytes = 8 * 1024
    /// The maximum size of all header fields of a request together, names and values. Larger requests are answered with
    /// 431.
    public var fieldBytes = 32 * 1024
    /// The maximum number of header fields of a request. Requests with more fields are answered with 431.
    public var fieldCount = 100
    /// The number of bytes of a streamed response that may wait for the client.
    ///
    /// If more bytes wait, the handler has to wait.
    public var streamBufferBytes = 64 * 1024
    /// The maximum size of one message received on a WebSocket, all its fragments together.
    public var webSocketMessageBytes = 64 * 1024
    /// A head up to this size, in bytes, is not charged to `bodies` if its request has no body. The same holds for an
    /// HTTP/2 header block that is still incomplete.
    var freeHeadBytes: Int { 4096 }
    /// True if the limits per network also apply to loopback addresses.
    ///
    /// Each loopback address then counts as one network.
    public var countsLoopback = false
    /// The proxies that forward requests of many clients.
    ///
    /// The limits per network do not apply to these proxies.
    public var trustedProxies = TrustedProxies.none
    /// The memory for the bodies of requests that are not answered yet.
    public var bodies = BodyLimits()
    /// The memory for answers that the clients have not read. It is counted separately from `bodies`, so that clients
    /// that do not read their answers do not prevent others from sending requests.
    public var answers = BodyLimits()
    /// The maximum number of concurrent requests of one HTTP/2 connection.
    public var concurrentStreams = 100
    /// The maximum time from accepting a connection to the end of its TLS handshake.
    public var handshakeTime: Duration = .seconds(10)
    /// The maximum time from the first byte of a request to the end of its header block. It is also the maximum time
    /// from the start of a connection to its first request.
    public var headTime: Duration = .seconds(10)
    /// The maximum time from the end of the header block of a request to the end of its body, if the body is collected.
    /// For a body that the handler reads as a stream, `stallTime` applies instead.
    public var bodyTime: Duration = .seconds(60)
    /// The maximum time between two requests of a connection.
    ///
    /// A WebSocket peer that is silent for half this time gets a ping.
    public var idleTime: Duration = .seconds(75)
    /// The maximum time from accepting a proxy's connection to the end of its PROXY protocol header.
    public var proxyHeaderTime: Duration = .seconds(5)
    /// The maximum time for the client to receive all the bytes that wait to be sent to it.
    ///
    /// It is also the maximum time for which a request body may make no progress, if the handler reads it as a stream.
    public var stallTime: Duration = .seconds(30)
    /// The time from the start of a shutdown until the remaining requests are aborted.
    public var shutdownTime: Duration = .seconds(10)

    public init() {}

    /// Returns the network to which the connections and bodies of a client are charged. A trusted proxy forwards for
    /// many clients, so the limits per network do not apply to it.
    func network(of peer: SocketAddress) -> PeerNetwork {
        trustedProxies.contains(peer.host) ? .local : network(ofClient: peer)
    }

    /// Returns the network of a client whose address a proxy has sent with the PROXY protocol.
    ///
    /// The client is never treated as a proxy, whatever its address is.
    func network(ofClient client: SocketAddress) -> PeerNetwork {
        PeerNetwork(client, countsLoopback: countsLoopback)
    }
}
