import Synchronization

/// The TLS identity and settings of a listener. Supports TLS 1.2 and 1.3. ALPN selects h2 or http/1.1, or acme-tls/1
/// for an authority that validates a challenge.
public final class TLSServerContext: Sendable {
    /// An identity that has been checked and can be used by the context.
    public struct Prepared: Sendable {
        fileprivate let context: TLSContext
    }

    private let requestsClientCertificate: Bool
    private let context: Mutex<TLSContext>
    /// The certificates for challenges; nil if the operator provides the certificate, because then no authority sends
    /// challenges.
    private let challenges: TLSChallenges?

    /// Creates a context with an identity.
    /// - Parameter requestsClientCertificate: Whether clients are asked for a certificate. A client may send no
    ///   certificate, or one from any issuer. The certificate is passed to the handler with the request's connection,
    ///   and the handler decides whether to accept it.
    public init(_ identity: TLSIdentity, requestsClientCertificate: Bool = false) throws(NetworkError) {
        self.requestsClientCertificate = requestsClientCertificate
        let context = try TLSContext(server: identity, requestsClientCertificate: requestsClientCertificate)
        self.context = Mutex(context)
        challenges = nil
    }

    /// Creates a context for certificates that a public authority issues while the listener is open.
    /// - Parameter identity: The current certificate and key; nil if there is none yet. Without a certificate, only
    ///   handshakes that validate a challenge are completed.
    public init(answeringChallengesWith identity: TLSIdentity?) throws(NetworkError) {
        requestsClientCertificate = false
        let challenges = TLSChallenges()
        self.challenges = challenges
        let context = try TLSContext(
            server: identity, requestsClientCertificate: false, challenges: challenges)
        self.context = Mutex(context)
    }

    /// Sets the certificates with which challenges of a certificate authority (RFC 8737) are answered from now on. They
    /// replace all certificates of the previous call.
    /// - Parameter identities: The certificates by host name in lower case.
    /// - Throws: `NetworkError` if a certificate cannot be used, or if the context was not created with
    ///   `init(answeringChallengesWith:)`.
    public func answerChallenges(with identities: [String: TLSIdentity]) throws(NetworkError) {
        guard let challenges else {
            throw NetworkError(.configuration, "a listener with a certificate of the operator answers no challenges")
        }
        var contexts: [String: TLSContext] = [:]
        for (host, identity) in identities { contexts[host] = try TLSContext(challenge: identity) }
        challenges.set(contexts)
    }

    /// Builds the TLS context for an identity that is to replace the current one.
    ///
    /// This is the only step of the replacement that can fail.
    public func prepare(_ identity: TLSIdentity) throws(NetworkError) -> Prepared {
        Prepared(
            context: try TLSContext(
                server: identity, requestsClientCertificate: requestsClientCertificate, challenges: challenges))
    }

    /// Uses a prepared identity, instead of the current one, for new connections. Also replaces the keys of session
    /// tickets, so that no session of the previous identity is resumed.
    public func use(_ prepared: Prepared) {
        context.withLock { $0 = prepared.context }
    }

    /// Prepares an identity and uses it, instead of the current one, for new connections.
    public func reload(_ identity: TLSIdentity) throws(NetworkError) {
        use(try prepare(identity))
    }

    func makeSession() throws(NetworkError) -> TLSSession {
        try TLSSession(serverOf: context.withLock { $0 })
    }
}
