import Synchronization

/// The certificates, by host name, with which a server answers the challenges of a certificate authority (RFC 8737).
final class TLSChallenges: Sendable {
    private let contexts = Mutex<[String: TLSContext]>([:])

    func set(_ contexts: [String: TLSContext]) {
        self.contexts.withLock { $0 = contexts }
    }

    func context(for host: String) -> TLSContext? {
        contexts.withLock { $0[host] }
    }
}
