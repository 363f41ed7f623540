import MartletHTTP
import Synchronization

/// A handler that passes requests on to another handler, which can be set later.
///
/// The other handler can be made only when the server is listening, because its answers contain the server's address.
/// Until it is set, requests are answered with 503.
final class LateHandler: HTTPHandler {
    private let handler = Mutex<(any HTTPHandler)?>(nil)

    func use(_ handler: any HTTPHandler) {
        self.handler.withLock { $0 = handler }
    }

    func route(for head: HTTPRequest) -> HTTPRoute {
        guard let handler = handler.withLock(\.self) else {
            return HTTPRoute(refusing: HTTPResponse(.serviceUnavailable, error: "The server is starting."))
        }
        return handler.route(for: head)
    }
}
