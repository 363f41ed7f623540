import MartletHTTP

/// Routes of the admin socket: the hubs' REST API without signatures under `/rest`, and the admin API.
struct AdminRootHandler: HTTPHandler {
    private static let prefix = "/rest"

    let administration: any HTTPHandler
    let hubs: any HTTPHandler

    func route(for head: HTTPRequest) -> HTTPRoute {
        guard head.target.hasPrefix(Self.prefix + "/") else { return administration.route(for: head) }
        var route = hubs.route(for: Self.withoutPrefix(head))
        let respond = route.respond
        route.respond = { request in await respond(Self.withoutPrefix(request)) }
        return route
    }

    private static func withoutPrefix(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.target.removeFirst(prefix.count)
        return request
    }
}
