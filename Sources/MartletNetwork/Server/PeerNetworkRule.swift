import MartletHTTP
import Synchronization

/// By which network new connections of a server are counted, as its limits say now.
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
}
