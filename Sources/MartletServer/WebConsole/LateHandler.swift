import MartletHTTP
import Synchronization

/// A handler that stands for another one, which is made only when the server listens, because its answers contain the
/// server's address.
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
