/// Sends HTTP requests. Implemented on sockets by MartletNetwork, and by fakes in tests.
public protocol HTTPTransport: Sendable {
    /// Sends every request of a batch and reports the results in portions as they arrive, each index exactly once.
    ///
    /// Requests that the peer did not process (refused streams, streams above the last one of a GOAWAY) are sent again
    /// on another connection before they are reported; nothing else is retried.
    /// - Parameters:
    ///   - deadline: When unsent requests are reported as `.timedOut`. The time from now to the deadline is also the
    ///     time limit for each answer, from when its request was sent.
    ///   - results: Called on the loop that owns the connection, so it must only record the results and return.
    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async

    /// Sends one request, for example a token exchange, and waits for its response.
    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse
}

/// The settings of a connection besides its origin. Requests share a connection only if their settings are equal too.
public struct TransportSettings: Hashable, Sendable {
    /// The HTTP version of a connection.
    public enum Version: Hashable, Sendable {
        /// The version that ALPN selects: h2 or http/1.1.
        case negotiated
        /// HTTP/2 by ALPN (on https) or prior knowledge (on http); the connection fails otherwise.
        case http2
        case http1
    }

    /// The addresses that a connection may be made to. Checked on the resolved address, so that a harmless-looking name
    /// that resolves into the operator's own network is refused.
    public enum Addresses: Hashable, Sendable {
        case any
        /// Addresses of the public internet, at port 80, 443 or 1024 and above: for origins chosen by untrusted
        /// parties.
        case publicOnly
        /// Public addresses, and loopback addresses at any port.
        case publicOrLoopback
    }

    public var version: Version
    /// Certificates to trust instead of the system's, as PEM text.
    public var trustedCertificatesPEM: String?
    /// A client certificate with its key, as PEM text.
    public var clientIdentityPEM: String?
    /// Separates requests that must not share a connection, such as the teams of a push service.
    public var partition: String
    /// The most concurrent connections to the origin.
    public var connectionLimit: Int
    public var addresses: Addresses
    /// The label under which connections are counted: one of a few words, such as a platform.
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
