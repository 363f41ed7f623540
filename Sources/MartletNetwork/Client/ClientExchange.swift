import MartletHTTP

/// One request of its own on its way. Owned by a loop.
final class ClientExchange {
    typealias Finish = (Result<HTTPResponse, TransportError>) -> Void

    private let loop: EventLoop
    private var reported: Finish?
    private var single: ClientPool.Single?
    private weak var pool: ClientPool?
    private var timer: TimerID?
    /// How long nothing may come or go once something has; nil where the deadline stays as it is.
    private let patience: Duration?

    /// - Parameter told: Called once, with the answer (or its head, where it is streamed) or why there is none.
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

    /// Something has come or gone.
    func progressed() {
        guard let timer, let patience else { return }
        loop.cancelTimer(timer)
        self.timer = loop.startTimer(due: .now + patience) { [weak self] in
            self?.giveUp(.timedOut, "nothing came or went for too long")
        }
    }

    /// The answer came, or will not.
    func finish(_ result: Result<HTTPResponse, TransportError>) {
        guard let reported else { return }
        self.reported = nil
        if let timer { loop.cancelTimer(timer) }
        timer = nil
        reported(result)
    }

    /// Nobody waits any more: for the answer, or for the rest of it.
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
