import MartletHTTP

/// Tells browsers to come back by TLS alone (RFC 6797), on answers that go over TLS.
///
/// Without `includeSubDomains` and `preload`: this server speaks for its own host only.
struct StrictTransport: HTTPHandler {
    let handler: any HTTPHandler

    /// A year, in seconds.
    static let field = HTTPField("strict-transport-security", "max-age=31536000")

    func route(for head: HTTPRequest) -> HTTPRoute {
        var route = handler.route(for: head)
        guard head.connection?.isSecure == true else { return route }
        route.respond = { [respond = route.respond] request in
            var response = await respond(request)
            response.fields.append(Self.field)
            return response
        }
        return route
    }
}
