import Synchronization

/// The TLS identity and settings of a listener. TLS 1.2 and 1.3; ALPN selects h2 or http/1.1.
public final class TLSServerContext: Sendable {
    /// An identity that is known to be usable.
    public struct Prepared: Sendable {
        fileprivate let context: TLSContext
    }

    private let requestsClientCertificate: Bool
    private let context: Mutex<TLSContext>

    /// - Parameter requestsClientCertificate: Whether clients are asked for a certificate. A client may send none, or
    ///   one of any issuer: the handler finds it in the request's connection and decides.
    public init(_ identity: TLSIdentity, requestsClientCertificate: Bool = false) throws(NetworkError) {
        self.requestsClientCertificate = requestsClientCertificate
        let context = try TLSContext(server: identity, requestsClientCertificate: requestsClientCertificate)
        self.context = Mutex(context)
    }

    /// Builds the context of another identity: the part of a change that can fail.
    public func prepare(_ identity: TLSIdentity) throws(NetworkError) -> Prepared {
        Prepared(
            context: try TLSContext(server: identity, requestsClientCertificate: requestsClientCertificate))
    }

    /// Uses another identity for new connections. The keys of session tickets are new too, so that no session of the
    /// previous identity is resumed.
    public func use(_ prepared: Prepared) {
        context.withLock { $0 = prepared.context }
    }

    /// Uses another identity for new connections.
    public func reload(_ identity: TLSIdentity) throws(NetworkError) {
        use(try prepare(identity))
    }

    func makeSession() throws(NetworkError) -> TLSSession {
        try TLSSession(serverOf: context.withLock { $0 })
    }
}
