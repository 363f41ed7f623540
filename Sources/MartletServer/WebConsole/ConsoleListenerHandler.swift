import MartletConsole
import MartletHTTP

/// The handler of a listener that serves nothing but the console.
struct ConsoleListenerHandler: HTTPHandler {
    let console: any HTTPHandler

    func route(for head: HTTPRequest) -> HTTPRoute {
        let target = HTTPTarget(head.target)
        if target?.segments.first == Console.pathPrefix { return console.route(for: head) }
        guard target?.segments.isEmpty == true else { return HTTPRoute(refusing: HTTPResponse(.notFound)) }
        return HTTPRoute(refusing: HTTPResponse(302, fields: ["location": "/\(Console.pathPrefix)/"]))
    }
}
