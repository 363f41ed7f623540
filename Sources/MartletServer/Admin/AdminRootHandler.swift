import MartletHTTP
import MartletHubAPI

/// Routes of the admin socket: under `/rest` the hubs' REST API without signatures, and storage containers; elsewhere the
/// admin API.
struct AdminRootHandler: HTTPHandler {
    private static let prefix = "/rest"

    let administration: any HTTPHandler
    let hubs: any HTTPHandler
    /// Storage containers, whose URLs are signed here as elsewhere.
    let containers: any HTTPHandler

    func route(for head: HTTPRequest) -> HTTPRoute {
        guard head.target.hasPrefix(Self.prefix + "/") else { return administration.route(for: head) }
        let inner = Self.withoutPrefix(head)
        let handler = inner.target.hasPrefix("/\(ContainerAPI.segment)/") ? containers : hubs
        var route = handler.route(for: inner)
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
