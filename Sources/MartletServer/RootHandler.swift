import MartletConsole
import MartletHTTP
import MartletHubAPI

/// Passes each request to the part of the server that its first path segment names: the app backend, health, metrics,
/// storage containers or the console. Any other first segment is the name of a hub.
struct RootHandler: HTTPHandler {
    let backend: any HTTPHandler
    let health: any HTTPHandler
    let metrics: any HTTPHandler
    let containers: any HTTPHandler
    /// The handler of the console; nil if this listener does not serve the console.
    ///
    /// If it is nil, the hub API answers requests for `/console` as for an unknown hub, because no hub can have this
    /// name.
    let console: (any HTTPHandler)?
    let hubs: any HTTPHandler

    func route(for head: HTTPRequest) -> HTTPRoute {
        part(for: head).route(for: head)
    }

    private func part(for request: HTTPRequest) -> any HTTPHandler {
        let segment = request.target.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        switch Substring(segment).lowercased() {
        case "api": return backend
        case "health": return health
        case MetricsAPI.segment: return metrics
        case ContainerAPI.segment, "%24" + ContainerAPI.segment.dropFirst(): return containers
        case Console.pathPrefix: return console ?? hubs
        default: return hubs
        }
    }
}
