import Synchronization

/// The reason, shown in the health check, why the public TLS listener has no certificate; nil if it has one or needs
/// none.
final class CertificateObstacle: Sendable {
    private let state = Mutex<String?>(nil)

    func set(_ sentence: String?) {
        state.withLock { $0 = sentence }
    }

    var sentence: String? { state.withLock(\.self) }
}
