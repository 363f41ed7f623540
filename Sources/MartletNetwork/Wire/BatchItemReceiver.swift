import MartletHTTP

/// Collects the response to one item of a batch, and reports the result to the batch. Used by `HTTP1Client`;
/// `BulkSession` needs no receiver for each item.
final class BatchItemReceiver: ResponseReceiver {
    /// The maximum size of a response body, in bytes.
    ///
    /// The answers of push services have a few hundred bytes.
    static let bodyLimit = 64 * 1024

    private let run: BatchRun
    private let item: Int
    private let connection: Int
    private var head = HTTPResponse(.ok)
    private var body: [UInt8] = []

    /// Creates a receiver for the response to one item.
    /// - Parameter connection: The number of the connection on which the item is sent.
    init(_ run: BatchRun, item: Int, on connection: Int) {
        self.run = run
        self.item = item
        self.connection = connection
    }

    var bodyLimit: Int? { Self.bodyLimit }

    func receivedHead(_ head: HTTPResponse) {
        self.head = head
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) {
        body.append(contentsOf: bytes)
    }

    func finished() {
        head.body = .bytes(body)
        guard !run.isPlainSuccess(head, of: item) else { return run.succeeded(item) }
        run.answered(item, .success(head), on: connection)
    }

    func failed(_ error: TransportError) {
        // An invalid request is not given back to the batch, because it would be invalid again.
        if error.mayHaveBeenProcessed || error.kind == .invalidRequest {
            run.answered(item, .failure(error), on: connection)
        } else {
            run.giveBack(item)
        }
    }
}
