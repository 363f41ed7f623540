/// Decides when the connections to one origin are made, filled and closed. It holds none of them: events go in, actions
/// come out, and `deadline` says when `expire(at:)` is due.
///
/// It grows by one connection at a time, while what waits is more than all connections together can take and would, at
/// the rate that was measured, wait longer than it takes to make another one. A connection that has not answered anything
/// yet is given a moment before another is made: push services let a new one carry a single request, and raise that with
/// the first success. One that was made to go faster is on trial: where it has brought nothing it goes again, and none is
/// made in its place for a while that doubles.
struct HTTP2PoolStateMachine: Equatable {
    typealias ConnectionID = Int

    enum Action: Equatable {
        /// Make a connection; `connected` or `connectFailed` tells how it went.
        case connect(ConnectionID)
        /// Start requests on a connection until its capacity or the waiting requests are used up; `changed` and
        /// `demand` tell what is left.
        case fill(ConnectionID)
        /// Nobody needs the connection: end it once it has nothing to do. `closed` tells when it is gone.
        case drain(ConnectionID)
        /// No connection could be made and none is there: the requests that wait fail.
        case failWaiting
    }

    /// How long a connection without any request is kept.
    static let idleTime = Duration.seconds(60)
    /// How long a new connection may take to answer anything before its silence no longer holds back a further one.
    static let provingTime = Duration.seconds(1)
    /// The part of what a fair share would be that a further connection must have brought to be kept.
    private static let leastGain = 0.25
    private static let firstRest = Duration.seconds(60)
    private static let longestRest = Duration.seconds(3600)

    private struct Connection: Equatable {
        enum Phase: Equatable {
            /// Becomes `open` or goes.
            case connecting
            /// Becomes `draining` by GOAWAY, idleness or shutdown, or goes.
            case open
            /// Finishes what it carries, takes nothing new, and goes.
            case draining
        }

        let id: ConnectionID
        var phase = Phase.connecting
        var capacity = 0
        let wantedAt: ContinuousClock.Instant
        /// How many requests the peer has answered on it.
        var answers = 0
        /// Whether the peer has shown that it answers.
        var isProven = false
        /// Until when it holds back further connections while it is not proven.
        var provesUntil: ContinuousClock.Instant?
        /// Since when it has had nothing to do.
        var idleSince: ContinuousClock.Instant?
    }

    /// A connection that was made beside others to go faster.
    private struct Trial: Equatable {
        let id: ConnectionID
        /// How many there were without it, and what they brought.
        let others: Int
        let rate: Double
        var throughput = HTTP2Throughput()
    }

    /// How many connections do for a while.
    private struct Enough: Equatable {
        let count: Int
        let until: ContinuousClock.Instant
    }

    let connectionLimit: Int
    private var connections: [Connection] = []
    /// What the connections that there are bring.
    private var throughput = HTTP2Throughput()
    /// Per second, when it was last measured with as many connections as there are.
    private var rate: Double?
    private var trial: Trial?
    /// Because one more brought nothing.
    private var enough: Enough?
    private var rest = Self.firstRest
    /// How long an answer took, and how long the last connection took to be made.
    private var roundTrip = Duration.zero
    private var connectTime = Duration.zero
    /// Answers that no measurement knows of yet.
    private var newAnswers = 0
    /// Whether a connection carries one request at a time (HTTP/1.1): each does what any other does, which needs no
    /// measuring.
    private var isSerial = false
    /// When the last event came: what was due by then has been looked at.
    private var lastEvent: ContinuousClock.Instant?
    private var lastID = 0
    private var waiting = 0
    private var backoff = HTTP2Backoff()
    private var isShutDown = false

    init(connectionLimit: Int) {
        self.connectionLimit = max(1, connectionLimit)
    }

    /// When `expire(at:)` is to be called, or nil where nothing is being waited for.
    var deadline: ContinuousClock.Instant? {
        var first: ContinuousClock.Instant?
        func consider(_ instant: ContinuousClock.Instant?) {
            guard let instant else { return }
            first = first.map { min($0, instant) } ?? instant
        }
        func considerAhead(_ instant: ContinuousClock.Instant?) {
            if let instant, lastEvent.map({ instant > $0 }) ?? true { consider(instant) }
        }
        if waiting > 0, canHaveMore {
            considerAhead(backoff.until)
            considerAhead(enough?.until)
        }
        if let trial { consider(trial.throughput.isDone(trialTime)) }
        if isBusy, canHaveMore, trial == nil, !isFindingOut(at: lastEvent) { consider(throughput.isDone(window)) }
        for connection in connections where connection.phase != .connecting {
            if connection.phase == .open { consider(connection.idleSince.map { $0 + Self.idleTime }) }
            if waiting > 0, !connection.isProven { considerAhead(connection.provesUntil) }
        }
        return first
    }

    // MARK: Events

    /// - Parameter waiting: How many requests no connection carries.
    mutating func demand(_ waiting: Int, at now: ContinuousClock.Instant) -> [Action] {
        self.waiting = waiting
        return work(at: now)
    }

    /// What a connection has brought; told of all of them before anything else that happens at the same time.
    /// - Parameters:
    ///   - answers: How many requests the peer has answered on it in all.
    ///   - roundTrip: How long the answers take that come now; nil where that is not known.
    mutating func measured(_ id: ConnectionID, answers: Int, roundTrip: Duration? = nil) {
        guard let place = place(of: id) else { return }
        newAnswers += max(0, answers - connections[place].answers)
        connections[place].answers = answers
        self.roundTrip = roundTrip ?? self.roundTrip
    }

    /// - Parameter isSerial: Whether it carries one request at a time.
    mutating func connected(
        _ id: ConnectionID, capacity: Int, isSerial: Bool = false, at now: ContinuousClock.Instant
    ) -> [Action] {
        guard let place = place(of: id), connections[place].phase == .connecting else { return [] }
        self.isSerial = isSerial
        connections[place].phase = .open
        connections[place].capacity = capacity
        connectTime = now - connections[place].wantedAt
        connections[place].provesUntil = now + Self.provingTime
        connections[place].idleSince = now
        return work(at: now)
    }

    mutating func connectFailed(
        _ id: ConnectionID, jitter: Double, at now: ContinuousClock.Instant
    ) -> [Action] {
        connections.removeAll { $0.id == id }
        if trial?.id == id { trial = nil }
        backoff.failed(at: now, jitter: jitter)
        let hasHope = connections.contains { $0.phase != .draining }
        return waiting > 0 && !hasHope ? [.failWaiting] : []
    }

    /// Something about a connection changed: after it was filled, and whenever it says so.
    /// - Parameters:
    ///   - hasAnswered: Whether the peer has shown that it answers on it.
    ///   - isIdle: Whether it carries no request.
    ///   - isOpen: Whether it will ever take requests again; false after GOAWAY.
    mutating func changed(
        _ id: ConnectionID, capacity: Int, hasAnswered: Bool, isIdle: Bool, isOpen: Bool,
        at now: ContinuousClock.Instant
    ) -> [Action] {
        guard let place = place(of: id), connections[place].phase != .connecting else { return [] }
        connections[place].capacity = capacity
        connections[place].idleSince = isIdle ? connections[place].idleSince ?? now : nil
        if hasAnswered, !connections[place].isProven {
            connections[place].isProven = true
            backoff.succeeded()
        }
        if !isOpen, connections[place].phase == .open {
            connections[place].phase = .draining
            forgetRate()
        }
        return work(at: now)
    }

    /// A connection is gone.
    mutating func closed(
        _ id: ConnectionID, jitter: Double, at now: ContinuousClock.Instant
    ) -> [Action] {
        guard let place = place(of: id) else { return [] }
        let wasProven = connections[place].isProven
        if connections.remove(at: place).phase == .open { forgetRate() }
        if trial?.id == id { trial = nil }
        guard !wasProven else { return work(at: now) }
        // One that went without an answer counts as a failed attempt: its successor waits. After the second in a row,
        // what waits fails: a peer that sends every connection away will not take it.
        let hasFailedBefore = backoff.until != nil
        backoff.failed(at: now, jitter: jitter)
        let hasHope = connections.contains { $0.phase != .draining }
        return waiting > 0 && hasFailedBefore && !hasHope ? [.failWaiting] : work(at: now)
    }

    mutating func expire(at now: ContinuousClock.Instant) -> [Action] {
        var actions: [Action] = []
        for place in connections.indices where connections[place].phase == .open {
            guard let since = connections[place].idleSince, now >= since + Self.idleTime else { continue }
            connections[place].phase = .draining
            forgetRate()
            actions.append(.drain(connections[place].id))
        }
        actions += judge(at: now)
        return actions + work(at: now)
    }

    /// No more requests: every connection finishes what it carries.
    mutating func shutDown() -> [Action] {
        isShutDown = true
        waiting = 0
        trial = nil
        var actions: [Action] = []
        for place in connections.indices where connections[place].phase != .draining {
            connections[place].phase = .draining
            actions.append(.drain(connections[place].id))
        }
        return actions
    }

    // MARK: Decisions

    private mutating func work(at now: ContinuousClock.Instant) -> [Action] {
        measure(at: now)
        guard waiting > 0, !isShutDown else { return [] }
        let usable = connections.filter { $0.phase == .open && $0.capacity > 0 }
        guard usable.isEmpty else { return usable.map { .fill($0.id) } }
        guard shouldGrow(at: now) else { return [] }
        let others = openCount
        lastID += 1
        connections.append(Connection(id: lastID, wantedAt: now))
        if others > 0, !isSerial, let rate { trial = Trial(id: lastID, others: others, rate: rate) }
        return [.connect(lastID)]
    }

    private func shouldGrow(at now: ContinuousClock.Instant) -> Bool {
        guard canHaveMore, backoff.allows(at: now), trial == nil else { return false }
        if let enough, now < enough.until, openCount >= enough.count { return false }
        return !isFindingOut(at: now) && (openCount == 0 || isWorthOneMore)
    }

    /// Whether what another connection brings is about to show.
    private func isFindingOut(at now: ContinuousClock.Instant?) -> Bool {
        connections.contains { connection in
            switch connection.phase {
            case .connecting: return true
            // One that was told GOAWAY before it answered anything is replaced when it is gone, as a failed attempt.
            case .open, .draining:
                guard !connection.isProven, let until = connection.provesUntil, let now else { return false }
                return now < until
            }
        }
    }

    /// Whether what waits would still wait when another connection is made and has answered once.
    private var isWorthOneMore: Bool {
        guard !isSerial else { return true }
        guard let rate else { return false }
        return Double(waiting) > rate * ((connectTime + roundTrip) / .seconds(1))
    }

    // MARK: Measurements

    /// How long a rate is measured: at least two round trips, because answers to what was sent together come together.
    private var window: Duration { min(max(roundTrip * 2, .milliseconds(50)), .seconds(1)) }
    private var trialTime: Duration { min(max(roundTrip * 6, .milliseconds(300)), .seconds(5)) }

    private var openCount: Int { connections.count { $0.phase == .open } }

    /// Whether more waits than the connections that there are can take.
    private var isBusy: Bool {
        waiting > 0 && openCount > 0 && !connections.contains { $0.phase == .open && $0.capacity > 0 }
    }

    /// There are fewer connections than it was measured with.
    private mutating func forgetRate() {
        rate = nil
        throughput.restart()
    }

    private mutating func measure(at now: ContinuousClock.Instant) {
        lastEvent = now
        throughput.note(answers: newAnswers, isBusy: isBusy, at: now)
        let isBusy = isBusy && trial.flatMap { place(of: $0.id) }.map { connections[$0].isProven } ?? false
        trial?.throughput.note(answers: newAnswers, isBusy: isBusy, at: now)
        newAnswers = 0
        guard let measured = throughput.rate(over: window) else { return }
        rate = measured
        throughput.restart()
    }

    /// Ends the trial of a connection once it has lasted long enough.
    private mutating func judge(at now: ContinuousClock.Instant) -> [Action] {
        measure(at: now)
        guard let trial, let rate = trial.throughput.rate(over: trialTime) else { return [] }
        self.trial = nil
        guard rate < trial.rate * (1 + Self.leastGain / Double(trial.others)),
            let place = place(of: trial.id), connections[place].phase == .open
        else {
            rest = Self.firstRest
            return []
        }
        connections[place].phase = .draining
        enough = Enough(count: trial.others, until: now + rest)
        forgetRate()
        rest = min(rest * 2, Self.longestRest)
        return [.drain(trial.id)]
    }

    /// Connections that only finish what they carry do not count: a peer that says GOAWAY expects a successor at once.
    private var canHaveMore: Bool {
        !isShutDown && connections.count { $0.phase != .draining } < connectionLimit
    }

    private func place(of id: ConnectionID) -> Int? {
        connections.firstIndex { $0.id == id }
    }
}
