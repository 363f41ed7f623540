/// Sends requests. Implemented on sockets by the network, and by fakes.
public protocol HTTPTransport: Sendable {
    /// Sends every request of a batch and tells the results in portions as they come, each index exactly once.
    ///
    /// Requests that the peer did not process (refused streams, those above a GOAWAY's last stream) are sent again on
    /// another connection before they are reported; nothing else is retried.
    /// - Parameters:
    ///   - deadline: When what is still unsent is reported as `.timedOut`. What was sent has as long for its answer, from
    ///     when it was sent, as there is now until the deadline.
    ///   - results: Called on the loop that owns the connection, so it only notes the results and returns.
    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async

    /// Sends one request and waits for its answer: token exchanges and the like.
    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse
}

/// What a connection needs to know beyond its origin. Requests share a connection only where these are equal too.
public struct TransportSettings: Hashable, Sendable {
    /// Which HTTP a connection speaks.
    public enum Version: Hashable, Sendable {
        /// What ALPN selects of h2 and http/1.1.
        case negotiated
        /// h2 by ALPN (on https) or prior knowledge (on http); anything else fails the connection.
        case http2
        case http1
    }

    /// Which addresses a connection may be made to. Judged by the address itself, once the name is resolved, so that a
    /// name which leads into the operator's own network is found out however harmless it looks.
    public enum Addresses: Hashable, Sendable {
        case any
        /// Addresses of the public internet, at port 80, 443 or 1024 and above: for origins that strangers choose.
        case publicOnly
        /// Those, and this machine's own at any port.
        case publicOrLoopback
    }

    public var version: Version
    /// Certificates to trust instead of the system's, as PEM text.
    public var trustedCertificatesPEM: String?
    /// A client certificate with its key, as PEM text.
    public var clientIdentityPEM: String?
    /// Keeps apart what must not share a connection, such as the teams of a push service.
    public var partition: String
    /// The most connections to the origin at once.
    public var connectionLimit: Int
    public var addresses: Addresses
    /// What connections are counted under: one of a few words, such as a platform.
    public var purpose: String

    public init(
        version: Version = .negotiated, trustedCertificatesPEM: String? = nil, clientIdentityPEM: String? = nil,
        partition: String = "", connectionLimit: Int = 8,
        addresses: Addresses = .any, purpose: String = ""
    ) {
        self.version = version
        self.trustedCertificatesPEM = trustedCertificatesPEM
        self.clientIdentityPEM = clientIdentityPEM
        self.partition = partition
        self.connectionLimit = connectionLimit
        self.addresses = addresses
        self.purpose = purpose
    }
}
