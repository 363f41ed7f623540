import MartletHTTP

/// Checks the source of a request from its head alone: the host name by which the server was addressed, the transport,
/// and the page that made a browser send it.
struct RequestSource {
    let settings: ConsoleSettings

    /// The header field that every request that changes something must have.
    ///
    /// A page of another site cannot add the field without asking the server first (CORS).
    static let field = "martlet-console"

    /// Refuses a request that addresses the server by a host name that is not this server's.
    ///
    /// With DNS rebinding, an attacker's name resolves to this machine's address, and the browser then treats the
    /// attacker's page as one of the same origin.
    func checkHost(_ head: HTTPRequest) throws(ConsoleRefusal) {
        guard let host = HTTPOrigin("http://\(head.authority)")?.host else { throw .wrongHost }
        let isKnown =
            IPAddress(host) != nil || host == "localhost" || host == settings.publicURL?.host
            || settings.hosts.contains(host)
        guard isKnown else { throw .wrongHost }
    }

    /// Refuses a request that crossed a network in clear text.
    ///
    /// If a trusted proxy reports on a request without TLS, the request is accepted if the proxy's client used TLS.
    /// Otherwise a peer on this machine is accepted, unless it sends `x-forwarded-proto: http` for a host that is not
    /// loopback. A request for the host and port of an https `publicURL` is always accepted: then a proxy that was not
    /// declared as trusted is assumed to have ended TLS.
    func checkTransport(_ head: HTTPRequest) throws(ConsoleRefusal) {
        guard let connection = head.connection, !connection.isSecure else { return }
        if let forwarded = head.forwarded {
            guard !forwarded.isClearText else { throw .clearText }
            return
        }
        if Self.isLoopback(connection.peer), !Self.crossedNetwork(head) { return }
        if let url = settings.publicURL, url.scheme == .https, head.authority.lowercased() == url.authority { return }
        throw .clearText
    }

    /// Returns whether a proxy that was not declared as trusted says that it got a request in clear text, for a host that
    /// is not this machine's loopback address. A caller can forge the field, but only to get the request refused.
    private static func crossedNetwork(_ head: HTTPRequest) -> Bool {
        head.fields["x-forwarded-proto"]?.lowercased() == "http"
            && HTTPOrigin("http://\(head.authority)")?.isLoopback != true
    }

    /// Refuses a request that a page of another origin made a browser send. `Sec-Fetch-Site` (W3C Fetch Metadata) also
    /// identifies pages of other ports of the same host, whose requests carry the cookie too.
    func checkSite(_ head: HTTPRequest) throws(ConsoleRefusal) {
        let isChange = ![.get, .head].contains(head.method)
        let sites = head.fields.values(of: "sec-fetch-site")
        let allowed = isChange ? ["same-origin"] : ["same-origin", "none"]
        guard sites.allSatisfy({ allowed.contains($0) }) else { throw .crossSite }
        guard isChange else { return }
        let origins = head.fields.values(of: "origin")
        guard origins.count == 1, isOwn(origins[0], of: head), head.fields[Self.field] == "1" else {
            throw .crossSite
        }
    }

    /// Returns whether an origin is this server's: the configured `publicURL`, or the host that the request addresses.
    ///
    /// If `publicURL` is an https URL, an http origin is accepted only at a loopback address. At another address, a
    /// proxy that was not declared as trusted may hide that the page came over the network in clear text.
    private func isOwn(_ text: String, of head: HTTPRequest) -> Bool {
        guard let origin = HTTPOrigin(text) else { return false }
        if origin == settings.publicURL { return true }
        if origin.scheme != .https {
            if head.connection?.isSecure == true { return false }
            if settings.publicURL?.scheme == .https, !origin.isLoopback { return false }
        }
        return origin == HTTPOrigin("\(origin.scheme.rawValue)://\(head.authority)")
    }

    /// Returns whether an address is a loopback address.
    /// - Parameter peer: An address in text form; empty for a Unix socket, which only a proxy on this machine can use.
    static func isLoopback(_ peer: String) -> Bool {
        peer.isEmpty || HTTPOrigin(scheme: .http, host: peer).isLoopback
    }
}
