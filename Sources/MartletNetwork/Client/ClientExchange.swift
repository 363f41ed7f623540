import MartletHTTP

/// A single request (not part of a batch) and its answer. Owned by a loop.
final class ClientExchange {
    typealias Finish = (Result<HTTPResponse, TransportError>) -> Void

    private let loop: EventLoop
    private var reported: Finish?
    private var single: ClientPool.Single?
    private weak var pool: ClientPool?
    private var timer: TimerID?
    /// The maximum time without progress, once the first byte has been sent or received; nil for no such maximum.
    /// Before the first byte, or without a maximum, the deadline of `start` applies.
    private let patience: Duration?

    /// Creates the exchange of one request.
    /// - Parameter reported: Called once, with the response (or its head, if the body is streamed) or with the error.
    init(loop: EventLoop, patience: Duration? = nil, reported: @escaping Finish) {
        self.loop = loop
        self.patience = patience
        self.reported = reported
    }

    func start(
        _ request: HTTPRequest, in pool: ClientPool, receiver: any ResponseReceiver,
        before deadline: ContinuousClock.Instant
    ) {
        let single = ClientPool.Single(request, receiver: receiver)
        self.single = single
        self.pool = pool
        timer = loop.startTimer(due: deadline) { [weak self] in
            self?.giveUp(.timedOut, "no answer came before the deadline")
        }
        pool.add(single)
    }

    /// Restarts the progress timer. Called when bytes have been sent or received.
    func progressed() {
        guard let timer, let patience else { return }
        loop.cancelTimer(timer)
        self.timer = loop.startTimer(due: .now + patience) { [weak self] in
            self?.giveUp(.timedOut, "nothing came or went for too long")
        }
    }

    /// Reports the response or the error. Does nothing if one was reported before.
    func finish(_ result: Result<HTTPResponse, TransportError>) {
        guard let reported else { return }
        self.reported = nil
        if let timer { loop.cancelTimer(timer) }
        timer = nil
        reported(result)
    }

    /// Cancels the request: the caller no longer waits for the response, or for the rest of its body.
    func cancel() {
        giveUp(.cancelled, "the request was cancelled")
    }

    private func giveUp(_ kind: TransportError.Kind, _ detail: String) {
        let mayHaveBeenProcessed = single?.isUnderWay ?? false
        if let single { pool?.cancel(single, isLate: kind == .timedOut) }
        single = nil
        finish(.failure(TransportError(kind, mayHaveBeenProcessed: mayHaveBeenProcessed, detail)))
    }
}
