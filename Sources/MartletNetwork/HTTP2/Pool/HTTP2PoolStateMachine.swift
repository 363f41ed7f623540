/// Decides when the connections to one origin are opened, filled and closed.
///
/// A pure rule that performs no I/O: it takes events and returns actions. `deadline` is the time at which `expire(at:)`
/// must be called.
///
/// The pool grows if two conditions hold: more requests are waiting than its connections can accept, and requests wait
/// for longer than it takes to open a connection. The second condition holds if requests have already waited that long,
/// or would wait that long at the measured rate. Each time, the number of connections grows at most fourfold.
///
/// A new connection gets `provingTime` for its first answer before further connections are opened. The reason is that
/// APNs allows a single request on a new connection, and raises this limit after the first accepted request
/// (Docs/Specs/PushServices.md, section 1.11).
///
/// Connections that were opened to increase throughput are tested together in a trial. If they bring no gain, they are
/// closed, and no replacement is opened for a pause that doubles each time. The first four connections to a peer that
/// answers immediately need no trial, because with a single connection, the client and its peer wait for each other.
struct HTTP2PoolStateMachine: Equatable {
    typealias ConnectionID = Int

    enum Action: Equatable {
        /// Open a connection. The result must be reported with `connected` or `connectFailed`.
        case connect(ConnectionID)
        /// Start requests on a connection until its capacity is exhausted or no requests are waiting. The remaining
        /// capacity and requests must be reported with `changed` and `demand`.
        case fill(ConnectionID)
        /// Drain a connection that is no longer needed: close it when it carries no more requests. The closing must be
        /// reported with `closed`.
        case drain(ConnectionID)
        /// Fail the waiting requests, because no connection exists and none could be opened.
        case failWaiting
    }

    /// The time after which an idle connection is drained.
    static let idleTime = Duration.seconds(60)
    /// The maximum time for which a new connection that has no answer yet delays the opening of further connections.
    static let provingTime = Duration.seconds(1)
    /// The number of connections that are opened without a trial if requests wait less than `shortWait` at the peer.
    private static let defaultCount = 4
    private static let shortWait = Duration.milliseconds(10)
    /// If requests wait at the peer for at least this time, and for at least the shortest round trip, no connection is
    /// opened, because the peer is then the bottleneck.
    private static let longWait = Duration.milliseconds(25)
    /// The minimum gain per connection of a trial at which all connections of the trial are kept. The unit is the
    /// throughput of one connection outside the trial.
    private static let leastGain = 0.25
    private static let firstTrialPause = Duration.seconds(60)
    private static let longestTrialPause = Duration.seconds(3600)

    private struct Connection: Equatable {
        enum Phase: Equatable {
            /// The connection is being opened.
            ///
            /// The next phase is `open`, or the connection is removed.
            case connecting
            /// The connection is open.
            ///
            /// The next phase is `draining` after GOAWAY, idleness or shutdown, or the connection is removed.
            case open
            /// The connection finishes its requests, accepts no new ones, and is then removed.
            case draining
        }

        let id: ConnectionID
        var phase = Phase.connecting
        var capacity = 0
        let wantedAt: ContinuousClock.Instant
        /// The number of requests that the peer has answered on the connection.
        var answers = 0
        /// True once the peer has answered on the connection.
        var isProven = false
        /// The time before which no further connections are opened while this connection is unproven.
        var provesUntil: ContinuousClock.Instant?
        /// The time at which the connection became idle.
        var idleSince: ContinuousClock.Instant?
    }

    /// The connections that were opened in addition to others to increase the throughput, with the measurement that
    /// decides whether they are kept.
    private struct Trial: Equatable {
        var ids: [ConnectionID]
        /// The number of connections outside the trial.
        ///
        /// `rate` is the throughput of these connections, in answers per second. It is nil if the trial's connections
        /// are kept in any case.
        let others: Int
        let rate: Double?
        /// The start of the measurement: one round trip after no connection awaits its first answer any more; nil until
        /// then.
        var beginsAt: ContinuousClock.Instant?
    }

    /// A temporary limit on the number of connections.
    private struct TemporaryLimit: Equatable {
        let count: Int
        let until: ContinuousClock.Instant
    }

    let connectionLimit: Int
    private var connections: [Connection] = []
    /// The throughput of the current connections. During a trial, only answers after `beginsAt` count.
    private var throughput = HTTP2Throughput()
    /// The answers per second at the last measurement with the current number of connections.
    private var rate: Double?
    private var trial: Trial?
    /// The limit on the number of connections that the last trial without enough gain has set; nil if there was no such
    /// trial.
    private var temporaryLimit: TemporaryLimit?
    /// How long the next temporary limit lasts.
    private var trialPause = Self.firstTrialPause
    /// The latest round trip.
    private var roundTrip = Duration.zero
    /// The shortest round trip that any connection has measured.
    private var leastRoundTrip: Duration?
    /// The time that the last connection took to open.
    private var connectTime = Duration.zero
    /// The number of answers since the last measurement.
    private var newAnswers = 0
    /// The arrival time of the last answer counted in `newAnswers`; nil if unknown.
    private var answeredAt: ContinuousClock.Instant?
    /// The time since which requests have been waiting without interruption.
    private var busySince: ContinuousClock.Instant?
    /// True if each connection carries one request at a time (HTTP/1.1). All connections then perform alike, so nothing
    /// is measured.
    private var isSerial = false
    /// The time of the last handled event. Deadlines up to this time have been handled too.
    private var lastEvent: ContinuousClock.Instant?
    private var lastID = 0
    private var waiting = 0
    private var backoff = HTTP2Backoff()
    private var isShutDown = false

    init(connectionLimit: Int) {
        self.connectionLimit = max(1, connectionLimit)
    }

    /// The time at which `expire(at:)` must be called; nil if there is no deadline.
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
            considerAhead(temporaryLimit?.until)
        }
        if let lastEvent, isBusy, trial != nil || room(at: lastEvent) > 0, !isAwaitingFirstAnswer(at: lastEvent) {
            consider(lastEvent + lookTime)
        }
        for connection in connections where connection.phase != .connecting {
            if connection.phase == .open { consider(connection.idleSince.map { $0 + Self.idleTime }) }
            if waiting > 0, !connection.isProven { considerAhead(connection.provesUntil) }
        }
        return first
    }

    // MARK: Events

    /// Handles a change in the number of waiting requests.
    /// - Parameter waiting: The number of requests that have no connection yet.
    mutating func demand(_ waiting: Int, at now: ContinuousClock.Instant) -> [Action] {
        self.waiting = waiting
        return work(at: now)
    }

    /// Records the answers on a connection.
    ///
    /// Must be called for all connections before other events of the same time.
    /// - Parameters:
    ///   - answers: The total number of requests that the peer has answered on the connection.
    ///   - answeredAt: The time when the last answer arrived; nil means now.
    ///   - roundTrip: The latency of recent answers; nil if unknown.
    mutating func measured(
        _ id: ConnectionID, answers: Int, at answeredAt: ContinuousClock.Instant? = nil, roundTrip: Duration? = nil
    ) {
        guard let index = index(of: id), answers > connections[index].answers else { return }
        newAnswers += answers - connections[index].answers
        connections[index].answers = answers
        if let answeredAt { self.answeredAt = self.answeredAt.map { max($0, answeredAt) } ?? answeredAt }
        self.roundTrip = roundTrip ?? self.roundTrip
        leastRoundTrip = [leastRoundTrip, roundTrip].compactMap(\.self).min()
    }

    /// Handles a new connection that is established.
    /// - Parameter isSerial: Whether the connection carries one request at a time.
    mutating func connected(
        _ id: ConnectionID, capacity: Int, isSerial: Bool = false, at now: ContinuousClock.Instant
    ) -> [Action] {
        guard let index = index(of: id), connections[index].phase == .connecting else { return [] }
        self.isSerial = isSerial
        connections[index].phase = .open
        connections[index].capacity = capacity
        connectTime = now - connections[index].wantedAt
        connections[index].provesUntil = now + Self.provingTime
        connections[index].idleSince = now
        return work(at: now)
    }

    mutating func connectFailed(
        _ id: ConnectionID, jitter: Double, at now: ContinuousClock.Instant
    ) -> [Action] {
        connections.removeAll { $0.id == id }
        leaveTrial(id)
        backoff.failed(at: now, jitter: jitter)
        let hasHope = connections.contains { $0.phase != .draining }
        return waiting > 0 && !hasHope ? [.failWaiting] : []
    }

    /// Records the state of a connection after it was filled, and whenever its capacity changes.
    /// - Parameters:
    ///   - hasAnswered: Whether the peer has answered on the connection.
    ///   - isIdle: Whether the connection carries no request.
    ///   - isOpen: Whether the connection will accept requests again; false after GOAWAY.
    mutating func changed(
        _ id: ConnectionID, capacity: Int, hasAnswered: Bool, isIdle: Bool, isOpen: Bool,
        at now: ContinuousClock.Instant
    ) -> [Action] {
        guard let index = index(of: id), connections[index].phase != .connecting else { return [] }
        connections[index].capacity = capacity
        connections[index].idleSince = isIdle ? connections[index].idleSince ?? now : nil
        if hasAnswered, !connections[index].isProven {
            connections[index].isProven = true
            backoff.succeeded()
        }
        if !isOpen, connections[index].phase == .open {
            connections[index].phase = .draining
            forgetRate(without: id)
        }
        return work(at: now)
    }

    /// Handles the end of a connection that was established.
    mutating func closed(
        _ id: ConnectionID, jitter: Double, at now: ContinuousClock.Instant
    ) -> [Action] {
        guard let index = index(of: id) else { return [] }
        let wasProven = connections[index].isProven
        if connections.remove(at: index).phase == .open { forgetRate(without: id) }
        guard !wasProven else { return work(at: now) }
        // A connection that closed without an answer counts as a failed attempt, and the next attempt is delayed. After
        // a second failure in a row the waiting requests fail, because a peer that closes every connection will not
        // accept them.
        let hasFailedBefore = backoff.until != nil
        backoff.failed(at: now, jitter: jitter)
        let hasHope = connections.contains { $0.phase != .draining }
        return waiting > 0 && hasFailedBefore && !hasHope ? [.failWaiting] : work(at: now)
    }

    mutating func expire(at now: ContinuousClock.Instant) -> [Action] {
        var actions: [Action] = []
        for index in connections.indices where connections[index].phase == .open {
            guard let since = connections[index].idleSince, now >= since + Self.idleTime else { continue }
            connections[index].phase = .draining
            forgetRate(without: connections[index].id)
            actions.append(.drain(connections[index].id))
        }
        return actions + work(at: now)
    }

    /// Drains all connections and accepts no more requests.
    mutating func shutDown() -> [Action] {
        isShutDown = true
        waiting = 0
        trial = nil
        var actions: [Action] = []
        for index in connections.indices where connections[index].phase != .draining {
            connections[index].phase = .draining
            actions.append(.drain(connections[index].id))
        }
        return actions
    }

    // MARK: Decisions

    private mutating func work(at now: ContinuousClock.Instant) -> [Action] {
        let ended = measure(at: now)
        guard waiting > 0, !isShutDown else { return ended }
        let usable = connections.filter { $0.phase == .open && $0.capacity > 0 }
        guard usable.isEmpty else { return ended + usable.map { .fill($0.id) } }
        let others = openCount
        let ids = (0..<further(at: now)).map { lastID + 1 + $0 }
        guard let last = ids.last else { return ended }
        lastID = last
        connections += ids.map { Connection(id: $0, wantedAt: now) }
        if others > 0, !isSerial, let rate {
            trial = Trial(ids: ids, others: others, rate: isFree ? nil : rate)
            throughput = HTTP2Throughput()
        }
        return ended + ids.map { .connect($0) }
    }

    /// Returns the number of connections to open now.
    private func further(at now: ContinuousClock.Instant) -> Int {
        let room = room(at: now)
        guard room > 0, backoff.allows(at: now), trial == nil, !isAwaitingFirstAnswer(at: now) else { return 0 }
        let open = openCount
        guard open > 0, !isSerial else { return 1 }
        return min(mostAtOnce, room, fillableConnections(at: now))
    }

    /// The maximum number of connections to open at once.
    ///
    /// No connection is opened while requests wait at the peer for `longWait` or more. The first four connections are
    /// opened together. After that, the number depends on the latency. While the latency is close to the shortest round
    /// trip, three connections are opened for each open connection. Otherwise requests wait at the peer, and only one
    /// connection is opened for each open connection, because the peer answers the requests that it already has before
    /// those of a new connection.
    private var mostAtOnce: Int {
        guard let rate, rate > 0 else { return 1 }
        if wait >= max(Self.longWait, leastRoundTrip ?? .zero) { return 0 }
        if isFree { return Self.defaultCount - openCount }
        return roundTrip <= (leastRoundTrip ?? roundTrip) * 2 ? openCount * 3 : openCount
    }

    /// The time that requests wait at the peer or in this process: the latency above the shortest round trip.
    private var wait: Duration { roundTrip - (leastRoundTrip ?? roundTrip) }

    /// True if one more connection may be opened without a trial.
    private var isFree: Bool { openCount < Self.defaultCount && wait < Self.shortWait }

    /// Returns true while a connection is being opened, or is new and has no answer yet. No further connection is
    /// opened in this time.
    private func isAwaitingFirstAnswer(at now: ContinuousClock.Instant?) -> Bool {
        connections.contains { connection in
            switch connection.phase {
            case .connecting: return true
            // This includes a connection that got GOAWAY before any answer. When it closes, it counts as a failed
            // attempt.
            case .open, .draining:
                guard !connection.isProven, let until = connection.provesUntil, let now else { return false }
                return now < until
            }
        }
    }

    /// Returns how many further connections the waiting requests would fill.
    ///
    /// Counts only requests that would still wait after a new connection has opened and answered once. If requests have
    /// waited for so long that more are expected, counts all waiting requests.
    private func fillableConnections(at now: ContinuousClock.Instant) -> Int {
        guard let rate else { return 0 }
        func requests(in time: Duration) -> Double { max(1, rate * (time / .seconds(1))) }
        let time = connectTime + roundTrip
        let filled = Double(waiting) / requests(in: roundTrip / openCount)
        let hasLasted = busySince.map { now - $0 >= max(time, window) } ?? false
        let outlasting = hasLasted ? Double.infinity : Double(waiting) / requests(in: time)
        return Int(min(filled, outlasting, Double(connectionLimit)))
    }

    // MARK: Measurements

    /// The time for which a rate is measured.
    ///
    /// The time covers several round trips, because answers to requests that were sent together also arrive together.
    /// Before the first four connections are open, a rough rate is enough, because it is not compared with the rate of
    /// a trial.
    private var window: Duration {
        isFree && trial == nil
            ? min(max(roundTrip * 2, .milliseconds(50)), .seconds(5))
            : min(max(roundTrip * 6, .milliseconds(150)), .seconds(5))
    }
    /// The time without an answer after which the measured rate takes the time since the last answer into account.
    private var silence: Duration { max(roundTrip * 2, .milliseconds(20)) }
    /// The interval between measurements when there is no other event.
    private var lookTime: Duration { min(max(roundTrip / 2, .milliseconds(10)), .seconds(1)) }

    private var openCount: Int { connections.count { $0.phase == .open } }

    /// True if requests wait although connections are open.
    ///
    /// Some of these connections may have capacity that is just being filled.
    private var isBusy: Bool { waiting > 0 && openCount > 0 }

    /// Discards the measured rate, because the number of connections has decreased.
    private mutating func forgetRate(without id: ConnectionID) {
        forgetRate()
        leaveTrial(id)
    }

    private mutating func forgetRate() {
        rate = nil
        throughput = HTTP2Throughput()
    }

    /// Removes a connection from the trial.
    ///
    /// The trial ends when its last connection or any connection outside the trial is gone, because the result of the
    /// trial would then be meaningless.
    private mutating func leaveTrial(_ id: ConnectionID) {
        guard let ids = trial?.ids else { return }
        let left = ids.filter { $0 != id }
        trial?.ids = left
        trial?.beginsAt = nil
        if left.isEmpty || left.count == ids.count { trial = nil }
    }

    private mutating func measure(at now: ContinuousClock.Instant) -> [Action] {
        lastEvent = now
        busySince = isBusy ? busySince ?? now : nil
        if trial != nil, trial?.beginsAt == nil, !isAwaitingFirstAnswer(at: now) { trial?.beginsAt = now + roundTrip }
        let hasBegun = trial.map { $0.beginsAt.map { now >= $0 } ?? false } ?? true
        if hasBegun, let trial, trial.rate == nil {
            self.trial = nil
            forgetRate()
        }
        throughput.record(answers: newAnswers, last: answeredAt ?? now, isBusy: isBusy && hasBegun, at: now)
        newAnswers = 0
        answeredAt = nil
        guard let measured = throughput.rate(over: window, silence: silence, at: now) else { return [] }
        rate = measured
        throughput.restart()
        return judge(measured, at: now)
    }

    /// Ends a trial. Keeps all its connections if they brought enough gain. Otherwise keeps only as many of them as the
    /// gain is worth, and drains the rest.
    /// - Parameter rate: The throughput of all connections together, in answers per second.
    private mutating func judge(_ rate: Double, at now: ContinuousClock.Instant) -> [Action] {
        guard let trial, let before = trial.rate else { return [] }
        self.trial = nil
        // The gain, in units of the throughput of one connection outside the trial.
        let gain = (rate / before - 1) * Double(trial.others)
        guard gain < Self.leastGain * Double(trial.ids.count) else {
            trialPause = Self.firstTrialPause
            return []
        }
        let kept = max(0, Int(gain))
        let drained = trial.ids.dropFirst(kept)
        for id in drained { if let index = index(of: id) { connections[index].phase = .draining } }
        temporaryLimit = TemporaryLimit(count: trial.others + kept, until: now + trialPause)
        trialPause = min(trialPause * 2, Self.longestTrialPause)
        forgetRate()
        return drained.map { .drain($0) }
    }

    /// Returns how many more connections may be opened. Draining connections are not counted, because a peer that sends
    /// GOAWAY expects a replacement at once.
    private func room(at now: ContinuousClock.Instant) -> Int {
        guard !isShutDown else { return 0 }
        var limit = connectionLimit
        if let temporaryLimit, now < temporaryLimit.until { limit = min(limit, temporaryLimit.count) }
        return max(0, limit - connections.count { $0.phase != .draining })
    }

    private var canHaveMore: Bool {
        !isShutDown && connections.count { $0.phase != .draining } < connectionLimit
    }

    private func index(of id: ConnectionID) -> Int? {
        connections.firstIndex { $0.id == id }
    }
}
