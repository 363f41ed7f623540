import MartletHTTP

/// Refuses what another site makes a browser send with the credentials that it keeps for this one. Only what browsers add
/// to requests counts, so that other clients are served as before.
struct CrossSiteRule: Sendable {
    /// The origin that clients use (`--public-url`); nil where it is that of each request.
    let publicOrigin: HTTPOrigin?

    /// Whether a request may come from where its browser says: from a page of this server or from no page
    /// (`Sec-Fetch-Site`, W3C Fetch Metadata), or, of a browser that does not say it, from this server's own origin.
    func allows(_ request: HTTPRequest) -> Bool {
        let sites = request.fields.values(of: "sec-fetch-site")
        guard sites.allSatisfy({ ["same-origin", "none"].contains($0) }) else { return false }
        // What the page's own browser vouches for holds also behind a proxy that changes the host.
        if sites == ["same-origin"] { return true }
        return request.fields.values(of: "origin").allSatisfy { isOwn($0, of: request) }
    }

    /// Where the public origin is configured, the host of the request says nothing: who makes a browser send a request
    /// may have chosen it (DNS rebinding). Only loopback is believed besides, because no other machine can have its name.
    /// Without a public origin, the scheme is taken as it is: a proxy may have ended TLS.
    private func isOwn(_ text: String, of request: HTTPRequest) -> Bool {
        guard let origin = HTTPOrigin(text) else { return false }
        if origin == publicOrigin { return true }
        guard publicOrigin == nil || Self.isLoopback(origin.host) else { return false }
        return origin == HTTPOrigin("\(origin.scheme.rawValue)://\(request.authority)")
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" { return true }
        guard let address = IPAddress(Substring(host)) else { return false }
        return loopback?.contains(address.description) ?? false
    }

    private static let loopback = try? TrustedProxies("loopback")
}

/// Passes on what the rule allows and what did not cross a network in clear text, and refuses the rest by its head.
struct CrossSiteHandler: HTTPHandler {
    let handler: any HTTPHandler
    let rule: CrossSiteRule

    func route(for head: HTTPRequest) -> HTTPRoute {
        if head.forwarded?.isClearText == true {
            return HTTPRoute(refusing: HTTPResponse(.clearTextAtProxy as BackendError))
        }
        guard !rule.allows(head) else { return handler.route(for: head) }
        return HTTPRoute(refusing: HTTPResponse(.crossSite as BackendError))
    }
}
