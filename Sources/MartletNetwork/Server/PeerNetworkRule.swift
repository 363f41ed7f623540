import MartletHTTP
import Synchronization

/// Determines the network under which a new connection is counted, according to the server's current limits.
final class PeerNetworkRule: Sendable {
    private let limits: Mutex<ServerLimits>

    init(_ limits: ServerLimits) {
        self.limits = Mutex(limits)
    }

    func setTrustedProxies(_ proxies: TrustedProxies) {
        limits.withLock { $0.trustedProxies = proxies }
    }

    func isTrusted(_ peer: SocketAddress) -> Bool {
        limits.withLock { $0.trustedProxies }.contains(peer.host)
    }

    func network(of peer: SocketAddress) -> PeerNetwork {
        limits.withLock { $0 }.network(of: peer)
    }

    /// Returns the network of a client, which is never treated as a proxy.
    /// - Parameter client: The client that a proxy has named with the PROXY protocol.
    func network(ofClient client: SocketAddress) -> PeerNetwork {
        limits.withLock { $0 }.network(ofClient: client)
    }
}
