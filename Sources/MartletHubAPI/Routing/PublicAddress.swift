public import MartletHTTP

/// What comes before the path in the absolute URLs of answers, and which hosts tokens may be made for.
public struct PublicAddress: Sendable {
    private let configured: HTTPOrigin?

    /// - Parameter configured: The origin that clients use, where it is said. Otherwise it is taken from each request;
    ///   then the scheme is always https, because some clients read ids from no other URL and clear text is behind a
    ///   proxy that speaks TLS, or loopback.
    public init(_ configured: HTTPOrigin? = nil) {
        self.configured = configured
    }

    /// `https://HOST[:PORT]` as the client of a request knows this server.
    func origin(of request: HTTPRequest) -> String {
        if let configured { return configured.description }
        // An authority that is none would make the URL, which clients parse, unreadable.
        return HTTPOrigin("https://\(request.authority)")?.description ?? "https://localhost"
    }

    /// The hosts, without port and in lower case, that a token which comes with a request may be made for.
    func hosts(of request: HTTPRequest) -> [String] {
        let asked = TokenAudience.withoutPort(request.authority)
        guard let configured else { return [asked] }
        return [asked, TokenAudience.withoutPort(configured.authority)]
    }
}
