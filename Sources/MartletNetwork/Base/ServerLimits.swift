public import MartletHTTP

/// What a server allows its peers: sizes in bytes, counts and times.
public struct ServerLimits: Sendable {
    /// Connections at once over all listeners of a server. When nearly as many are there, those that have been idle for
    /// longest are closed; where none is idle, further ones wait in the kernel's queue.
    public var connections = 10_000
    /// Connections at once of one network (`PeerNetwork`), but for this machine; those above it are closed at once.
    public var connectionsPerNetwork = 1000
    /// Of the request line of HTTP/1.1, or of `:path`; a longer one is answered 414.
    public var targetBytes = 8 * 1024
    /// Of all header fields of a request together, names and values; more is answered 431.
    public var fieldBytes = 32 * 1024
    /// Header fields of a request; more is answered 431.
    public var fieldCount = 100
    /// What a streamed body may leave waiting for the peer before its writer has to wait.
    public var streamBufferBytes = 64 * 1024
    /// Of one message that comes on a WebSocket, all its fragments together.
    public var webSocketMessageBytes = 64 * 1024
    /// Of the head of a request without a body that needs no room of `bodies`.
    var freeHeadBytes: Int { 4096 }
    /// Whether the shares of networks apply to loopback addresses too, each of which counts as a network of its own.
    public var countsLoopback = false
    /// Peers that stand for many clients: the shares of networks do not apply to them.
    public var trustedProxies = TrustedProxies.none
    /// Memory for the bodies of requests that are not answered yet.
    public var bodies = BodyLimits()
    /// Requests of one HTTP/2 connection at once.
    public var concurrentStreams = 100
    /// From accepting a connection to the end of its TLS handshake.
    public var handshakeTime: Duration = .seconds(10)
    /// From the first byte of a request to the end of its header block.
    public var headTime: Duration = .seconds(10)
    /// From the end of the header block to the end of the body.
    public var bodyTime: Duration = .seconds(60)
    /// Between requests of a connection. A WebSocket's peer that says nothing for half as long is asked whether it is there.
    public var idleTime: Duration = .seconds(75)
    /// Without the peer taking any of the bytes that wait for it.
    public var stallTime: Duration = .seconds(30)
    /// From the beginning of a shutdown until what still runs is cut off.
    public var shutdownTime: Duration = .seconds(10)

    public init() {}

    /// By which network the connections and bodies of a peer are counted. A trusted proxy brings many clients, so that no
    /// share applies to it.
    func network(of peer: SocketAddress) -> PeerNetwork {
        trustedProxies.contains(peer.host) ? .local : PeerNetwork(peer, countsLoopback: countsLoopback)
    }
}
