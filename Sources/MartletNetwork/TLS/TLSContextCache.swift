import MartletHTTP
import Synchronization

/// Caches TLS client contexts by their settings, because loading the system's certificates takes milliseconds.
final class TLSContextCache: Sendable {
    private struct Key: Hashable {
        let trusted: String?
        let identity: String?
    }

    private static let limit = 64
    private let contexts = Mutex<[Key: TLSContext]>([:])

    func context(for settings: TransportSettings) throws(NetworkError) -> TLSContext {
        let key = Key(trusted: settings.trustedCertificatesPEM, identity: settings.clientIdentityPEM)
        if let context = contexts.withLock({ $0[key] }) { return context }
        let identity = settings.clientIdentityPEM.map { TLSIdentity(certificatesPEM: $0, privateKeyPEM: $0) }
        let context = try TLSContext(client: identity, trustedPEM: settings.trustedCertificatesPEM)
        contexts.withLock { contexts in
            if contexts.count >= Self.limit { contexts.removeAll() }
            contexts[key] = context
        }
        return context
    }
}
