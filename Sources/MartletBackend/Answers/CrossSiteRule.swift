import MartletHTTP

/// A rule that refuses requests that a browser sends on behalf of another site, with the credentials that the browser
/// keeps for this server. The rule checks only header fields that browsers add to requests, so other clients are not
/// affected.
struct CrossSiteRule: Sendable {
    /// The origin that clients use (`--public-url`); nil if the origin is taken from each request.
    let publicOrigin: HTTPOrigin?

    /// Returns whether a request comes from an allowed source, according to the browser. `Sec-Fetch-Site` (W3C Fetch
    /// Metadata) must be `same-origin` (a page of this server) or `none` (no page). If the field is missing or is
    /// `none`, the field `Origin`, if there is one, must name this server's own origin.
    func allows(_ request: HTTPRequest) -> Bool {
        let sites = request.fields.values(of: "sec-fetch-site")
        guard sites.allSatisfy({ ["same-origin", "none"].contains($0) }) else { return false }
        // The browser itself states that the page is this server's own. So the request is allowed even behind a proxy
        // that changes the host. A comparison of the origin with the changed host would fail.
        if sites == ["same-origin"] { return true }
        return request.fields.values(of: "origin").allSatisfy { isOwn($0, of: request) }
    }

    /// Returns whether an origin is this server's own.
    ///
    /// If the public origin is configured, the host of the request proves nothing, because an attacker who makes a
    /// browser send a request may have chosen the host (DNS rebinding). Then the only other accepted origins are
    /// loopback origins, because no other machine can have a loopback name. Without a public origin, any scheme is
    /// accepted, because a proxy may have ended TLS.
    private func isOwn(_ text: String, of request: HTTPRequest) -> Bool {
        guard let origin = HTTPOrigin(text) else { return false }
        if origin == publicOrigin { return true }
        guard publicOrigin == nil || origin.isLoopback else { return false }
        return origin == HTTPOrigin("\(origin.scheme.rawValue)://\(request.authority)")
    }
}

/// A handler that passes on the requests that the rule allows, unless they crossed a network in clear text. It refuses
/// all other requests as soon as their head has been received.
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
