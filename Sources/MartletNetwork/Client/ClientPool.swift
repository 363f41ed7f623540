import MartletHTTP

/// The connections of one loop to one origin with equal settings, and the requests that are waiting for these
/// connections. Owned by the loop.
final class ClientPool: ClientProtocolOwner {
    /// A single request (not part of a batch) that is waiting or in flight.
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

    /// Passes the response events of a single request to its receiver. If the peer did not process the request, queues
    /// it again, up to three attempts in all.
    private final class Attempt: ResponseReceiver {
        private static let limit = 3

        private let single: Single
        private weak var pool: ClientPool?

        init(_ single: Single, _ pool: ClientPool) {
            self.single = single
            self.pool = pool
            single.attempts += 1
        }

        var bodyLimit: Int? { single.receiver.bodyLimit }

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
            // The request is assigned only at the end of the loop's iteration, because the protocol is still handling
            // the event that made the request fail.
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
    /// The minimum in-flight limit of all connections together: this number of batch requests may always be in flight,
    /// however slow the peer is.
    private let leastInFlight: Int
    private var members: [Member] = []
    private var singles: [Single] = []
    private var runs: [BatchRun] = []
    private var isPumping = false
    private var isPumpWanted = false
    private var isReviewWanted = false
    private var timer: (id: TimerID, due: ContinuousClock.Instant)?
    private var stopped: TransportError?
    /// The error of the connection that failed or closed most recently.
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

    /// True if the pool has no connections, requests or batches and can be removed.
    var isIdle: Bool { members.isEmpty && singles.isEmpty && runs.isEmpty }

    /// The number of established connections.
    var openCount: Int { members.count { $0.client != nil } }

    // MARK: Requests

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

    /// Cancels a request. Its receiver is not called again.
    /// - Parameter isLate: Whether the request is cancelled because no answer was received in time.
    func cancel(_ single: Single, isLate: Bool) {
        singles.removeAll { $0 === single }
        if let (client, number) = single.underWay { client.cancel(number, isLate: isLate) }
    }

    /// Fails all waiting requests and closes all connections.
    func stop(_ error: TransportError) {
        stopped = error
        if let timer { loop.cancelTimer(timer.id) }
        timer = nil
        failWaiting(error)
        // Items that no connection has drawn fail here; otherwise they would wait for the deadline of their batch.
        // Items that a connection has drawn but not written fail when the connection gives them back.
        for run in runs where !run.isComplete { run.stop(error) }
        for member in members { member.connector?.cancel(nil) }
    }

    // MARK: Assigning requests

    var hasSingleRequests: Bool { !singles.isEmpty }

    func capacityChanged() {
        if target.addresses != .any, members.contains(where: { $0.client?.hasMisbehaved ?? false }) {
            failWaitingForUntrustedOrigin()
        }
        pump()
    }

    /// Assigns waiting requests to connections.
    ///
    /// Client protocols report changes of their capacity while requests are assigned to them. Each report calls this
    /// function again. Such a nested call returns at once and makes the running call assign requests once more.
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

    /// Asks the connections that have capacity to write, so that they draw waiting batch items.
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

    func removeComplete() {
        // The closures of a batch may hold the last reference to the `HTTPClient`. Its `deinit` stops this pool, which
        // iterates over `runs`. The batches are therefore kept alive until `runs` has been changed.
        let complete = runs.filter(\.isComplete)
        runs.removeAll { $0.isComplete }
        withExtendedLifetime(complete) {}
    }

    // MARK: Connections

    private var waiting: Int { singles.count + runs.reduce(0) { $0 + $1.waiting } }

    /// Schedules a review of the number of connections at the end of the loop's iteration, after the existing
    /// connections have drawn and written as many requests as they can.
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
            // Nothing to do: all waiting requests were offered to every connection before the state machine was called.
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
            // Requests are assigned only at the end of the loop's iteration, because the connection does not have its
            // protocol yet.
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

    /// The initial in-flight limit of a new connection: the average of the limits that the other connections have
    /// measured.
    private var nextInFlightLimit: InFlightLimit {
        let known = members.compactMap { $0.client?.inFlightLimit }
        let average = known.isEmpty ? 0 : known.reduce(0, +) / known.count
        return InFlightLimit(least: leastInFlight(of: known.count + 1), startingAt: average)
    }

    /// Returns the minimum in-flight limit of each connection if there are `count` connections.
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
        lastFailure = error ?? (wasOpen ? NetworkError(.disconnected, Self.detail(of: member.client)) : nil)
        let jitter = Double.random(in: 0..<1)
        perform(
            wasOpen
                ? machine.closed(member.id, jitter: jitter, at: loop.now)
                : machine.connectFailed(member.id, jitter: jitter, at: loop.now))
        if stopped == nil { pump() }
    }

    private static func detail(of client: (any ClientProtocol)?) -> String {
        client?.endReason ?? "the peer ended the connection without an answer"
    }

    /// Fails the waiting requests. Called if a device chose the origin, as for Web Push, and a connection to the origin
    /// has misbehaved.
    ///
    /// Otherwise a new connection would be opened for the waiting requests, and the peer could send the next flood on
    /// it.
    private func failWaitingForUntrustedOrigin() {
        failWaiting(
            TransportError(.misbehaved, mayHaveBeenProcessed: false, "the peer misbehaved on another connection"))
    }

    private func failWaiting(_ error: TransportError) {
        let failed = singles
        singles = []
        for single in failed { single.receiver.failed(error) }
        for run in runs where run.hasItems { run.abandon(error) }
    }
}

extension TransportError {
    /// Creates the error for a request that failed because no connection could be established.
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
