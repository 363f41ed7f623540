import MartletHTTP

/// The answer to one request of an HTTP/1.1 connection: cut off from it once it is complete.
final class HTTP1ResponseStream: ResponseStream {
    private weak var server: HTTP1Server?

    init(_ server: HTTP1Server) {
        self.server = server
    }

    func send(_ response: HTTPResponse) {
        detach()?.answer(response)
    }

    func sendHead(_ response: HTTPResponse) {
        server?.beginAnswer(response)
    }

    func sendBody(_ bytes: [UInt8]) -> Bool {
        server?.continueAnswer(bytes) ?? true
    }

    func finish() {
        detach()?.endAnswer()
    }

    func cut() {
        detach()?.cutAnswer()
    }

    func openWebSocket(_ response: HTTPResponse) -> WebSocketSession? {
        detach()?.openWebSocket(response)
    }

    /// - Returns: The server, the last time.
    @discardableResult
    func detach() -> HTTP1Server? {
        let server = server
        self.server = nil
        return server
    }
}
