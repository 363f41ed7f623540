import MartletHTTP

/// Collects the whole response to one request. Owned by a loop.
final class ResponseCollector: ResponseReceiver {
    let bodyLimit: Int?
    private var completed: ((Result<HTTPResponse, TransportError>) -> Void)?
    private var response: HTTPResponse?
    private var body: [UInt8] = []

    /// Creates a collector for one response.
    /// - Parameters:
    ///   - limit: The maximum size of the body, in bytes.
    ///   - completed: Called once, with the response or the error.
    init(limit: Int, completed: @escaping (Result<HTTPResponse, TransportError>) -> Void) {
        bodyLimit = limit
        self.completed = completed
    }

    func receivedHead(_ head: HTTPResponse) {
        response = head
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) {
        body.append(contentsOf: bytes)
    }

    func finished() {
        guard var response else { return }
        response.body = .bytes(body)
        tell(.success(response))
    }

    func failed(_ error: TransportError) {
        tell(.failure(error))
    }

    private func tell(_ result: Result<HTTPResponse, TransportError>) {
        let completed = completed
        self.completed = nil
        completed?(result)
    }
}
