import MartletHTTP

/// Collects the whole response to one request. Owned by a loop.
final class ResponseCollector: ResponseReceiver {
    private let limit: Int
    private var completed: ((Result<HTTPResponse, TransportError>) -> Void)?
    private var response: HTTPResponse?
    private var body: [UInt8] = []
    private(set) var isTooLong = false

    /// - Parameters:
    ///   - limit: The maximum size of the body, in bytes.
    ///   - completed: Called once, with the response or the error.
    init(limit: Int, completed: @escaping (Result<HTTPResponse, TransportError>) -> Void) {
        self.limit = limit
        self.completed = completed
    }

    func receivedHead(_ head: HTTPResponse) {
        response = head
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) {
        guard body.count + bytes.count <= limit else {
            isTooLong = true
            body = []
            return
        }
        if !isTooLong { body.append(contentsOf: bytes) }
    }

    func finished() {
        guard var response, !isTooLong else {
            let error = TransportError(
                .disconnected, mayHaveBeenProcessed: true, "the answer is longer than \(limit) bytes")
            return tell(.failure(error))
        }
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
