import MartletHTTP
import MartletHubAPI

/// Passes each request on the admin socket to the handler of its path.
///
/// The paths below `/rest` belong to the hubs' REST API, which needs no signatures here, and to the storage containers.
/// After this prefix, the paths are the same as on the public listeners. All other paths belong to the administration
/// API.
struct AdminRootHandler: HTTPHandler {
    private static let prefix = "/rest"

    let administration: any HTTPHandler
    let hubs: any HTTPHandler
    /// The handler of storage containers.
    ///
    /// The URLs of containers must be signed on this socket too.
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
