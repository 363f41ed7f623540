/// Sends HTTP requests. MartletNetwork implements the protocol with sockets; tests use fakes.
public protocol HTTPTransport: Sendable {
    /// Sends every request of a batch and reports the results in portions as they arrive. Each index is reported
    /// exactly once.
    ///
    /// If the peer did not process a request (a refused stream, or a stream above the last stream id of a GOAWAY), the
    /// request is sent again on another connection. No other request is sent again.
    /// - Parameters:
    ///   - deadline: The time at which requests that are still unsent are reported as `.timedOut`. The duration from
    ///     now to the deadline is also the time limit for each answer, counted from the sending of its request.
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

/// The settings of a connection, except its origin.
///
/// Requests share a connection only if both their origins and their settings are equal.
public struct TransportSettings: Hashable, Sendable {
    /// The HTTP version of a connection.
    public enum Version: Hashable, Sendable {
        /// The version that ALPN selects: h2 or http/1.1.
        case negotiated
        /// HTTP/2, by ALPN (https) or prior knowledge (http); if the peer does not support it, the connection fails.
        case http2
        case http1
    }

    /// The addresses to which a connection may be opened. The resolved address is checked, so that a harmless-looking
    /// name is refused if it resolves into the operator's own network.
    public enum Addresses: Hashable, Sendable {
        case any
        /// Addresses of the public internet: at port 443 for https, at port 80 for http, and at ports from 1024 for
        /// both schemes.
        ///
        /// Used for origins chosen by untrusted parties.
        case publicOnly
        /// The addresses and ports of `publicOnly`, and also loopback addresses at any port.
        case publicOrLoopback
        /// Loopback addresses, at any port.
        case loopbackOnly

        /// Returns the allowed addresses for an origin that another server has named in an answer.
        ///
        /// The operator may configure a server in a private network, and that server may name its own origin. Any other
        /// origin that it names must have a public address, because its answers must not direct requests into the
        /// operator's network.
        /// - Parameter operators: The origin that the operator has configured; nil if there is none.
        public static func allowed(for origin: HTTPOrigin, namedBy operators: HTTPOrigin?) -> Addresses {
            origin == operators ? .any : .publicOnly
        }
    }

    public var version: Version
    /// The certificates to trust instead of the system's, as PEM text; nil to trust the system's.
    public var trustedCertificatesPEM: String?
    /// The client certificate with its key, as PEM text; nil for none.
    public var clientIdentityPEM: String?
    /// The partition of the connections.
    ///
    /// Requests with different partitions, such as requests of different teams of a push service, do not share a
    /// connection.
    public var partition: String
    /// The maximum number of concurrent connections of one client to the origin, for requests with these settings.
    public var connectionLimit: Int
    public var addresses: Addresses
    /// The label for metrics of the connections: one of a few fixed words, such as the name of a platform.
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
