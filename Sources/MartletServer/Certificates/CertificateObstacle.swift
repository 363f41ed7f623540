import Synchronization

/// Why the public TLS listener has no certificate, for the health check; nil if it has one or needs none.
final class CertificateObstacle: Sendable {
    private let state = Mutex<String?>(nil)

    func set(_ sentence: String?) {
        state.withLock { $0 = sentence }
    }

    var sentence: String? { state.withLock(\.self) }
}
