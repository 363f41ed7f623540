import Synchronization

/// The certificates with which a server answers the challenges of a certificate authority (RFC 8737), by host name.
final class TLSChallenges: Sendable {
    private let contexts = Mutex<[String: TLSContext]>([:])

    func set(_ contexts: [String: TLSContext]) {
        self.contexts.withLock { $0 = contexts }
    }

    func context(for host: String) -> TLSContext? {
        contexts.withLock { $0[host] }
    }
}
