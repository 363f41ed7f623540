import MartletHTTP

/// Passes the body of a response to a sink as it arrives. If the sink declines the body, collects it instead. Owned by
/// a loop.
final class TransferReceiver: ResponseReceiver {
    private let sink: HTTPClient.Sink
    private let collector: ResponseCollector
    private let progressed: () -> Void
    private let given: () -> Void
    private var isSinking = false

    /// Creates a receiver that passes the body to a sink.
    /// - Parameters:
    ///   - limit: The maximum size of a collected body, in bytes.
    ///   - progressed: Called when bytes have been received.
    ///   - given: Called when the sink wants no more of the body.
    ///   - completed: Called once, with the response or the error.
    init(
        to sink: HTTPClient.Sink, limit: Int, progressed: @escaping () -> Void, given: @escaping () -> Void,
        completed: @escaping (Result<HTTPResponse, TransportError>) -> Void
    ) {
        self.sink = sink
        self.progressed = progressed
        self.given = given
        collector = ResponseCollector(limit: limit, completed: completed)
    }

    var bodyLimit: Int? { isSinking ? nil : collector.bodyLimit }

    func receivedHead(_ head: HTTPResponse) {
        progressed()
        isSinking = sink.begin(head)
        collector.receivedHead(head)
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) {
        progressed()
        guard isSinking else { return collector.receivedBody(bytes) }
        if !sink.receive(bytes) { given() }
    }

    func finished() {
        collector.finished()
    }

    func failed(_ error: TransportError) {
        collector.failed(error)
    }
}
