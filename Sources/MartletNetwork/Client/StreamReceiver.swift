import MartletHTTP

/// Streams a response as it arrives. Owned by a loop.
final class StreamReceiver: ResponseReceiver {
    /// The maximum number of body pieces, of at most 64 KiB each, that may wait for a slow reader.
    static let limit = 1_024

    private var headed: ((Result<HTTPResponse, TransportError>) -> Void)?
    private let body: AsyncThrowingStream<[UInt8], any Error>.Continuation

    /// Creates a receiver for one response.
    /// - Parameters:
    ///   - body: Receives the pieces of the body.
    ///   - headed: Called once, with the head of the response or the error.
    init(
        _ body: AsyncThrowingStream<[UInt8], any Error>.Continuation,
        headed: @escaping (Result<HTTPResponse, TransportError>) -> Void
    ) {
        self.body = body
        self.headed = headed
    }

    var bodyLimit: Int? { nil }

    private func tell(_ result: Result<HTTPResponse, TransportError>) {
        let headed = headed
        self.headed = nil
        headed?(result)
    }

    func receivedHead(_ head: HTTPResponse) {
        tell(.success(head))
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) {
        guard case .dropped = body.yield(Array(bytes)) else { return }
        body.finish(
            throwing: TransportError(
                .disconnected, mayHaveBeenProcessed: true,
                "the answer came faster than it was read: \(Self.limit) pieces of it were waiting"))
    }

    func finished() {
        body.finish()
    }

    func failed(_ error: TransportError) {
        tell(.failure(error))
        body.finish(throwing: error)
    }
}
