public import MartletHTTP

/// The origin of the absolute URLs in answers, and the hosts that a token may name.
public struct PublicAddress: Sendable {
    private let configured: HTTPOrigin?

    /// - Parameter configured: The origin that clients use; nil if none is configured. In this case, the host and port
    ///   are taken from each request, and the scheme is https: the JavaScript client accepts ids only from https URLs
    ///   (NotificationHubs.md, section 4.8), and requests in clear text arrive only through a TLS proxy or over
    ///   loopback.
    public init(_ configured: HTTPOrigin? = nil) {
        self.configured = configured
    }

    /// Returns the origin under which the client of a request knows this server: `https://HOST[:PORT]`.
    func origin(of request: HTTPRequest) -> String {
        if let configured { return configured.description }
        // An invalid authority is replaced with `localhost`, because clients could not parse a URL with an invalid
        // authority.
        return HTTPOrigin("https://\(request.authority)")?.description ?? "https://localhost"
    }

    /// Returns the hosts, in lower case without port, that the token of a request may name.
    func hosts(of request: HTTPRequest) -> [String] {
        let asked = TokenAudience.withoutPort(request.authority)
        guard let configured else { return [asked] }
        return [asked, TokenAudience.withoutPort(configured.authority)]
    }
}
