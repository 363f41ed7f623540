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

    /// Passes on what is told about a request of its own, and has what the peer did not process sent again.
    private final class Attempt: ResponseReceiver {
        private static let limit = 3

        private let single: Single
        private weak var pool: ClientPool?

        init(_ single: Single, _ pool: ClientPool) {
            self.single = single
            self.pool = pool
            single.attempts += 1
        }

        func receivedHead(_ head: HTTPResponse) { single.receiver.receivedHead(head) }
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
        let id: HTTP2PoolStateMachine.ConnectionID
        var connector: Connector?
        var client: (any ClientProtocol)?

        weak var connection: Connection?

        init(_ id: HTTP2PoolStateMachine.ConnectionID) {
            self.id = id
        }

        func drain() {
            client?.drain()
            connection?.needsWrite()
        }
    }

    private let loop: EventLoop
    private let target: Connector.Target
    private let load: PoolLoad
    private var machine: HTTP2PoolStateMachine
    /// How many requests of batches may be in flight over all connections, however long the peer takes.
    private let leastInFlight: Int
    private var members: [Member] = []
    private var singles: [Single] = []
    private var runs: [BatchRun] = []
    private var isPumping = false
    private var isPumpWanted = false
    private var isReviewWanted = false
    private var timer: (id: TimerID, due: ContinuousClock.Instant)?
    private var stopped: TransportError?
    /// Why the last connection was not made.
    private var lastFailure: NetworkError?

    init(
        _ target: Connector.Target, connectionLimit: Int, leastInFlight: Int = InFlightLimit.leastOfLane,
        load: PoolLoad, loop: EventLoop
    ) {
        self.leastInFlight = leastInFlight
        self.loop = loop
        self.target = target
        self.load = load
        machine = HTTP2PoolStateMachine(connectionLimit: connectionLimit)
    }

    /// Whether the pool may be forgotten.
    var isIdle: Bool { members.isEmpty && singles.isEmpty && runs.isEmpty }

    /// Connections that are made.
    var openCount: Int { members.count { $0.client != nil } }

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
    /// - Parameter isLate: Whether that is because no answer came in time.
    func cancel(_ single: Single, isLate: Bool) {
        singles.removeAll { $0 === single }
        if let (client, number) = single.underWay { client.cancel(number, isLate: isLate) }
    }

    /// Ends everything.
    func stop(_ error: TransportError) {
        stopped = error
        if let timer { loop.cancelTimer(timer.id) }
        timer = nil
        failWaiting(error)
        for member in members { member.connector?.cancel(nil) }
    }

    // MARK: dealing out

    func capacityChanged() {
        pump()
    }

    /// Deals out what waits. Calls from within are put off: a client protocol tells of its capacity while it is being
    /// given something.
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
        letWrite()
        reviewSoon()
    }

    /// A connection that has room takes what waits, before the rest is looked at.
    private func letWrite() {
        guard runs.contains(where: \.hasItems) else { return }
        for member in members where member.client.map({ $0.capacity > 0 }) ?? false {
            member.connection?.needsWrite()
        }
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
        // A batch may be the last that holds the client, whose end goes through what is left of them.
        let complete = runs.filter(\.isComplete)
        runs.removeAll { $0.isComplete }
        withExtendedLifetime(complete) {}
    }

    // MARK: connections

    private var waiting: Int { singles.count + runs.reduce(0) { $0 + $1.waiting } }

    /// Whether more connections are wanted shows only when those that there are have drawn what they can, which they
    /// do when they write, at the end of this turn.
    private func reviewSoon() {
        guard !isReviewWanted, stopped == nil else { return }
        isReviewWanted = true
        loop.atEndOfTurn { [weak self] in self?.review() }
    }

    private func review() {
        isReviewWanted = false
        guard stopped == nil else { return }
        reportMeasurements()
        perform(machine.demand(waiting, at: loop.now))
        reportMembers()
        armTimer()
    }

    private func reportMeasurements() {
        for member in members {
            guard let client = member.client else { continue }
            machine.measured(
                member.id, answers: client.answerCount, at: client.answeredAt, roundTrip: client.roundTrip)
        }
    }

    private func reportMembers() {
        load.record(connections: members.count { $0.client?.isOpen ?? false })
        for member in members {
            guard let client = member.client else { continue }
            perform(
                machine.changed(
                    member.id, capacity: client.isHeldBack ? 0 : client.capacity, hasAnswered: client.hasAnswered,
                    isIdle: client.isIdle, isOpen: client.isOpen, at: loop.now))
        }
    }

    private func perform(_ actions: [HTTP2PoolStateMachine.Action]) {
        for action in actions {
            switch action {
            case .connect(let id): openConnection(id)
            // Everything that waits was offered to every connection before the machine was asked.
            case .fill: break
            case .drain(let id): members.first { $0.id == id }?.drain()
            case .failWaiting: failWaiting(TransportError(lastFailure, target.origin))
            }
        }
    }

    private func armTimer() {
        guard var due = machine.deadline else { return }
        due = max(due, loop.now + .milliseconds(1))
        if let timer {
            guard due < timer.due else { return }
            loop.cancelTimer(timer.id)
        }
        let id = loop.startTimer(due: due) { [weak self] in
            guard let self else { return }
            timer = nil
            reportMeasurements()
            perform(machine.demand(waiting, at: loop.now))
            reportMembers()
            perform(machine.expire(at: loop.now))
            reviewSoon()
        }
        timer = (id, due)
    }

    private func openConnection(_ id: HTTP2PoolStateMachine.ConnectionID) {
        let member = Member(id)
        members.append(member)
        let taken = { [weak self] in Set(self?.members.compactMap { $0.connector?.peer } ?? []) }
        let connector = Connector(target, loop: loop, taken: taken) { [weak self] connection, isHTTP2 in
            guard let self else { return nil }
            let client = makeClient(connection, isHTTP2: isHTTP2)
            member.client = client
            member.connection = connection
            shareInFlight()
            perform(machine.connected(id, capacity: client.capacity, isSerial: !isHTTP2, at: loop.now))
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
            ? BulkSession(connection: connection, owner: self, inFlight: nextInFlightLimit)
            : HTTP1Client(connection, owner: self, limits: target.limits)
    }

    /// That of another connection: it starts with what the others have measured, on average.
    private var nextInFlightLimit: InFlightLimit {
        let known = members.compactMap { $0.client?.inFlightLimit }
        let average = known.isEmpty ? 0 : known.reduce(0, +) / known.count
        return InFlightLimit(least: leastInFlight(of: known.count + 1), startingAt: average)
    }

    /// How many each of as many connections may have in flight.
    private func leastInFlight(of count: Int) -> Int {
        max(InFlightLimit.leastOfConnection, leastInFlight / max(1, count))
    }

    private func shareInFlight() {
        let least = leastInFlight(of: openCount)
        for member in members { member.client?.limitInFlight(toAtLeast: least) }
    }

    private func memberClosed(_ member: Member, _ error: NetworkError?, wasOpen: Bool) {
        members.removeAll { $0 === member }
        member.connector = nil
        shareInFlight()
        lastFailure = error
        let jitter = Double.random(in: 0..<1)
        perform(
            wasOpen
                ? machine.closed(member.id, jitter: jitter, at: loop.now)
                : machine.connectFailed(member.id, jitter: jitter, at: loop.now))
        if stopped == nil { pump() }
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
