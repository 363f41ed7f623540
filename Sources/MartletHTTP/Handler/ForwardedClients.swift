/// Adds the address of the client, and whether the client used TLS, to each request that arrives through trusted
/// proxies.
public struct ForwardedClients: HTTPHandler {
    private let handler: any HTTPHandler
    private let proxies: TrustedProxies
    private let untrusted: @Sendable (String) -> Void

    /// Creates a handler that passes requests on to another handler.
    /// - Parameter untrusted: Called if an untrusted peer sends the proxies' header field, and the peer has a private
    ///   address or uses the Unix socket. Such a peer is probably a proxy that the operator has not configured, and all
    ///   its clients then share one address. The argument is the peer's address; empty for a peer of the Unix socket.
    public init(
        _ handler: any HTTPHandler, proxies: TrustedProxies, untrusted: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.handler = handler
        self.proxies = proxies
        self.untrusted = untrusted
    }

    public func route(for head: HTTPRequest) -> HTTPRoute {
        guard let peer = head.connection?.peer else { return handler.route(for: head) }
        guard proxies.contains(peer) else {
            if head.fields[proxies.field.rawValue] != nil, Self.isPrivate(peer) { untrusted(peer) }
            return handler.route(for: head)
        }
        let forwarded = HTTPRequest.Forwarded(
            client: proxies.client(peer: peer, fields: head.fields),
            isClearText: proxies.saysClearText(head.fields))
        var head = head
        head.forwarded = forwarded
        var route = handler.route(for: head)
        route.respond = { [respond = route.respond] request in
            var request = request
            request.forwarded = forwarded
            return await respond(request)
        }
        return route
    }

    private static let privateNetworks = try? TrustedProxies("private")

    private static func isPrivate(_ peer: String) -> Bool {
        peer.isEmpty || (privateNetworks?.contains(peer) ?? false)
    }
}
