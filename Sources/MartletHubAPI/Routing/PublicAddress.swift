public import MartletHTTP

/// The origin of the absolute URLs in answers, and the hosts that tokens may be issued for.
public struct PublicAddress: Sendable {
    private let configured: HTTPOrigin?

    /// - Parameter configured: The origin that clients use, if configured. Otherwise the origin is taken from each
    ///   request with the scheme https, because some clients read ids from https URLs only, and clear text comes
    ///   through a TLS proxy or loopback.
    public init(_ configured: HTTPOrigin? = nil) {
        self.configured = configured
    }

    /// `https://HOST[:PORT]` as the client of a request knows this server.
    func origin(of request: HTTPRequest) -> String {
        if let configured { return configured.description }
        // An invalid authority would make the URL unreadable for clients.
        return HTTPOrigin("https://\(request.authority)")?.description ?? "https://localhost"
    }

    /// The hosts, without port and in lower case, that the token of a request may be issued for.
    func hosts(of request: HTTPRequest) -> [String] {
        let asked = TokenAudience.withoutPort(request.authority)
        guard let configured else { return [asked] }
        return [asked, TokenAudience.withoutPort(configured.authority)]
    }
}
