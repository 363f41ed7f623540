import MartletHTTP
import MartletHubAPI

/// The routes of the admin socket: below `/rest`, the hubs' REST API without signatures, and storage containers; on all
/// other paths, the admin API.
struct AdminRootHandler: HTTPHandler {
    private static let prefix = "/rest"

    let administration: any HTTPHandler
    let hubs: any HTTPHandler
    /// Handles storage containers. Their URLs must be signed here too.
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
