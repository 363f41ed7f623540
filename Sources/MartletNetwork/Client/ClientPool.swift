import MartletHTTP

/// The connections of one loop to one origin with equal settings, and what waits for them. Owned by the loop.
final class ClientPool: ClientProtocolOwner {
    /// A request of its own that waits, or is under way.
    final class Single {
        let request: HTTPRequest
        let receiver: any ResponseReceiver
        fileprivate var underWay: (client: any ClientProtocol, number: UInt64)?
        fileprivate var attempts = 0

        init(_ request: HTTPRequest, receiver: any ResponseReceiver) {
            self.request = request
            self.receiver = receiver
        }

        var isUnderWay: Bool { underWay != nil }
    }

    /// Passes on what is told about a request of its own, counts the answers, and has what the peer did not process
    /// sent again.
    private final class Attempt: ResponseReceiver {
        private static let limit = 3

        private let single: Single
        private weak var pool: ClientPool?

        init(_ single: Single, _ pool: ClientPool) {
            self.single = single
            self.pool = pool
            single.attempts += 1
        }

        func receivedHead(_ head: HTTPResponse) {
            pool?.answered += 1
            single.receiver.receivedHead(head)
        }

        func receivedBody(_ bytes: UnsafeRawBufferPointer) { single.receiver.receivedBody(bytes) }
        func finished() { single.receiver.finished() }

        func failed(_ error: TransportError) {
            let isRefused = !error.mayHaveBeenProcessed && [.reset, .disconnected].contains(error.kind)
            guard let pool, isRefused, single.attempts < Self.limit, pool.stopped == nil else {
                return single.receiver.failed(error)
            }
            single.underWay = nil
            pool.singles.append(single)
            // Not at once: the protocol is in the middle of what made it refuse.
            pool.loop.atEndOfTurn { [weak pool] in pool?.pump() }
        }
    }

    private final class Member {
        var connector: Connector?
        var client: (any ClientProtocol)?
    }

    private let loop: EventLoop
    private let target: Connector.Target
    private var policy: PoolPolicy
    private var members: [Member] = []
    private var singles: [Single] = []
    private var runs: [BatchRun] = []
    private var isPumping = false
    private var isPumpWanted = false
    private var retry: TimerID?
    private var stopped: TransportError?
    /// Answers to requests of their own, and to batches that are complete.
    private var answered = 0
    private var answeredAtLastClose = 0

    init(_ target: Connector.Target, connectionLimit: Int, loop: EventLoop) {
        self.loop = loop
        self.target = target
        policy = PoolPolicy(limit: connectionLimit)
    }

    /// Whether the pool may be forgotten.
    var isIdle: Bool { members.isEmpty && singles.isEmpty && runs.isEmpty }

    // MARK: what is to be sent

    func add(_ single: Single) {
        if let stopped { return single.receiver.failed(stopped) }
        singles.append(single)
        pump()
    }

    func add(_ run: BatchRun) {
        if let stopped { return run.abandon(stopped) }
        runs.append(run)
        pump()
    }

    /// Gives a request up; its receiver hears nothing more.
    func cancel(_ single: Single) {
        singles.removeAll { $0 === single }
        if let (client, number) = single.underWay { client.cancel(number) }
    }

    /// Ends everything.
    func stop(_ error: TransportError) {
        stopped = error
        if let retry { loop.cancelTimer(retry) }
        retry = nil
        failWaiting(error)
        for member in members { member.connector?.cancel(nil) }
    }

    // MARK: dealing out

    func capacityChanged() {
        pump()
    }

    /// Deals out what waits and opens connections where it is worth it. Calls from within are put off: a client
    /// protocol tells of its capacity while it is being given something.
    private func pump() {
        isPumpWanted = true
        guard !isPumping else { return }
        isPumping = true
        while isPumpWanted {
            isPumpWanted = false
            startSingles()
            startRuns()
        }
        isPumping = false
        connect()
    }

    private func startSingles() {
        var next = 0
        for member in members {
            guard let client = member.client else { continue }
            while next < singles.count, client.isOpen, client.capacity > 0 {
                let single = singles[next]
                next += 1
                let attempt = Attempt(single, self)
                let number = client.start(single.request, to: target.origin, receiver: attempt)
                single.underWay = (client, number)
            }
        }
        singles.removeFirst(min(next, singles.count))
    }

    private func startRuns() {
        for run in runs where run.hasItems {
            for member in members where run.hasItems {
                guard let client = member.client, client.isOpen else { continue }
                client.draw(from: run)
            }
        }
    }

    /// Lets go of batches that are complete.
    func removeComplete() {
        runs.removeAll { run in
            if run.isComplete { answered += run.told }
            return run.isComplete
        }
    }

    // MARK: connections

    private var waiting: Int { singles.count + runs.reduce(0) { $0 + $1.waiting } }

    private func connect() {
        guard stopped == nil else { return }
        let open = members.count { $0.client?.isOpen == true }
        let connecting = members.count { $0.connector != nil && $0.client == nil }
        switch policy.connect(waiting: waiting, open: open, connecting: connecting, total: members.count, at: loop.now)
        {
        case .none: break
        case .open(let count): for _ in 0..<count { openConnection() }
        case .later(let due): connectLater(due)
        }
    }

    private func connectLater(_ due: ContinuousClock.Instant) {
        guard retry == nil else { return }
        retry = loop.startTimer(due: due) { [weak self] in
            self?.retry = nil
            self?.pump()
        }
    }

    private func openConnection() {
        let member = Member()
        members.append(member)
        let connector = Connector(target, loop: loop) { [weak self] connection, isHTTP2 in
            guard let self else { return nil }
            let client = makeClient(connection, isHTTP2: isHTTP2)
            member.client = client
            policy.opened(isHTTP2: isHTTP2)
            // Not from within: the connection does not know its protocol yet.
            loop.atEndOfTurn { [weak self] in self?.pump() }
            return client
        } closed: { [weak self] error, wasOpen in
            self?.memberClosed(member, error, wasOpen: wasOpen)
        }
        member.connector = connector
        connector.start()
    }

    private func makeClient(_ connection: Connection, isHTTP2: Bool) -> any ClientProtocol {
        isHTTP2
            ? BulkSession(connection: connection, owner: self)
            : HTTP1Client(connection, owner: self, limits: target.limits)
    }

    private func memberClosed(_ member: Member, _ error: NetworkError?, wasOpen: Bool) {
        members.removeAll { $0 === member }
        member.connector = nil
        let others = members.contains { $0.client?.isOpen == true || $0.client == nil }
        let answered = runs.reduce(answered) { $0 + $1.told }
        let wasUseful = answered > answeredAtLastClose
        answeredAtLastClose = answered
        let verdict = policy.closed(wasOpen: wasOpen, wasUseful: wasUseful, hasOthers: others, at: loop.now)
        if verdict == .failWaiting {
            failWaiting(TransportError(error, target.origin))
        }
        pump()
    }

    private func failWaiting(_ error: TransportError) {
        let failed = singles
        singles = []
        for single in failed { single.receiver.failed(error) }
        for run in runs where run.hasItems { run.abandon(error) }
    }
}

extension TransportError {
    /// Why no connection could be made.
    init(_ error: NetworkError?, _ origin: HTTPOrigin) {
        let kind: Kind =
            switch error?.kind {
            case .unresolved: .unresolved
            case .handshake, .configuration: .insecure
            case .disconnected: .disconnected
            case .system, .forbidden, .timedOut, nil: .unreachable
            }
        self.init(kind, mayHaveBeenProcessed: false, error?.detail ?? "no connection to \(origin)")
    }
}
