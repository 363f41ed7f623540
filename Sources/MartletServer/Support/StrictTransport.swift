import MartletHTTP

/// Adds `Strict-Transport-Security` (RFC 6797) to answers over TLS.
///
/// Browsers ignore the field if they do not trust the certificate (RFC 6797, section 8.1).
///
/// `includeSubDomains` and `preload` are not set, because other hosts of the domain do not belong to this server.
struct StrictTransport: HTTPHandler {
    let handler: any HTTPHandler

    /// The header field, with a lifetime of a year in seconds.
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
