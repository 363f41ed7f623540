/// Decides when the connections to one origin are made, filled and closed. It holds none of them: events go in, actions
/// come out, and `deadline` says when `expire(at:)` is due.
///
/// It grows by one connection at a time, and only while what waits is more than all connections together can take. A
/// connection that has not answered anything yet is given a moment before another is made: push services let a new one
/// carry a single request, and raise that with the first success.
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
        /// Whether the peer has answered anything on it.
        var isProven = false
        /// Until when it holds back further connections while it is not proven.
        var provesUntil: ContinuousClock.Instant?
        /// Since when it has had nothing to do.
        var idleSince: ContinuousClock.Instant?
    }

    let connectionLimit: Int
    private var connections: [Connection] = []
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
        if waiting > 0, canHaveMore { consider(backoff.until) }
        for connection in connections where connection.phase != .connecting {
            if connection.phase == .open { consider(connection.idleSince.map { $0 + Self.idleTime }) }
            if waiting > 0, !connection.isProven { consider(connection.provesUntil) }
        }
        return first
    }

    // MARK: Events

    /// - Parameter waiting: How many requests no connection carries.
    mutating func demand(_ waiting: Int, at now: ContinuousClock.Instant) -> [Action] {
        self.waiting = waiting
        return work(at: now)
    }

    mutating func connected(
        _ id: ConnectionID, capacity: Int, at now: ContinuousClock.Instant
    ) -> [Action] {
        guard let place = place(of: id), connections[place].phase == .connecting else { return [] }
        connections[place].phase = .open
        connections[place].capacity = capacity
        connections[place].provesUntil = now + Self.provingTime
        connections[place].idleSince = now
        return work(at: now)
    }

    mutating func connectFailed(
        _ id: ConnectionID, jitter: Double, at now: ContinuousClock.Instant
    ) -> [Action] {
        connections.removeAll { $0.id == id }
        backoff.failed(at: now, jitter: jitter)
        let hasHope = connections.contains { $0.phase != .draining }
        return waiting > 0 && !hasHope ? [.failWaiting] : []
    }

    /// Something about a connection changed: after it was filled, and whenever it says so.
    /// - Parameters:
    ///   - hasAnswered: Whether the peer has answered anything on it.
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
        if !isOpen { connections[place].phase = .draining }
        return work(at: now)
    }

    /// A connection is gone.
    mutating func closed(
        _ id: ConnectionID, jitter: Double, at now: ContinuousClock.Instant
    ) -> [Action] {
        guard let place = place(of: id) else { return [] }
        let wasProven = connections[place].isProven
        connections.remove(at: place)
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
            actions.append(.drain(connections[place].id))
        }
        return actions + work(at: now)
    }

    /// No more requests: every connection finishes what it carries.
    mutating func shutDown() -> [Action] {
        isShutDown = true
        waiting = 0
        var actions: [Action] = []
        for place in connections.indices where connections[place].phase != .draining {
            connections[place].phase = .draining
            actions.append(.drain(connections[place].id))
        }
        return actions
    }

    // MARK: Decisions

    private mutating func work(at now: ContinuousClock.Instant) -> [Action] {
        guard waiting > 0, !isShutDown else { return [] }
        let usable = connections.filter { $0.phase == .open && $0.capacity > 0 }
        guard usable.isEmpty else { return usable.map { .fill($0.id) } }
        guard shouldGrow(at: now) else { return [] }
        lastID += 1
        connections.append(Connection(id: lastID))
        return [.connect(lastID)]
    }

    private func shouldGrow(at now: ContinuousClock.Instant) -> Bool {
        guard canHaveMore, backoff.allows(at: now) else { return false }
        return !connections.contains { connection in
            switch connection.phase {
            case .connecting: true
            // One that was told GOAWAY before it answered anything is replaced when it is gone, as a failed attempt.
            case .open, .draining: !connection.isProven && connection.provesUntil.map { now < $0 } ?? false
            }
        }
    }

    /// Connections that only finish what they carry do not count: a peer that says GOAWAY expects a successor at once.
    private var canHaveMore: Bool {
        !isShutDown && connections.count { $0.phase != .draining } < connectionLimit
    }

    private func place(of id: ConnectionID) -> Int? {
        connections.firstIndex { $0.id == id }
    }
}
