import MartletHTTP

/// The response to one request on an HTTP/1.1 connection. Detached from the connection when the response is complete.
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

    /// Detaches the response from its connection.
    /// - Returns: The server on the first call; nil on further calls.
    @discardableResult
    func detach() -> HTTP1Server? {
        let server = server
        self.server = nil
        return server
    }
}
