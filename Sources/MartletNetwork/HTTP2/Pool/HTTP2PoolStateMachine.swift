/// Decides when the connections to one origin are made, filled and closed. It holds none of them: events go in, actions
/// come out, and `deadline` says when `expire(at:)` is due.
///
/// It grows, to at most four times as many connections at a time, while what waits is more than all together can take and
/// would, at the rate that was measured, wait longer than it takes to make another one, or has waited that long. A
/// connection that has not answered anything yet is given a moment before others are made: push services let a new one
/// carry a single request, and raise that with the first success. Those that were made to go faster are on trial
/// together: as many as have brought nothing go again, and none is made in their place for a while that doubles. The
/// first four towards a peer that answers at once are not: with one, it and its peer wait for each other.
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
    /// How many are made without a trial, while answers wait for less than this at the peer.
    private static let defaultCount = 4
    private static let shortWait = Duration.milliseconds(10)
    /// None is made while answers wait for so long, and longer than the way is: the peer is the limit itself.
    private static let longWait = Duration.milliseconds(25)
    /// The part of what a fair share would be that further connections must have brought to be kept.
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

    /// Connections that were made beside others to go faster.
    private struct Trial: Equatable {
        var ids: [ConnectionID]
        /// How many there were without them, and what they brought; nil where these are kept whatever they bring.
        let others: Int
        let rate: Double?
        /// From when on it is measured: they carry then what they can. Nil before all of them have shown what they are.
        var beginsAt: ContinuousClock.Instant?
    }

    /// How many connections do for a while.
    private struct Enough: Equatable {
        let count: Int
        let until: ContinuousClock.Instant
    }

    let connectionLimit: Int
    private var connections: [Connection] = []
    /// What the connections that there are bring; in a trial, only once it has begun.
    private var throughput = HTTP2Throughput()
    /// Per second, when it was last measured with as many connections as there are.
    private var rate: Double?
    private var trial: Trial?
    /// Because one more brought nothing.
    private var enough: Enough?
    private var rest = Self.firstRest
    /// How long an answer took, and how long the last connection took to be made.
    private var roundTrip = Duration.zero
    /// The shortest that an answer took.
    private var leastRoundTrip: Duration?
    private var connectTime = Duration.zero
    /// Answers that no measurement knows of yet, and when the last one came.
    private var newAnswers = 0
    private var answeredAt: ContinuousClock.Instant?
    /// Since when something has been waiting without a pause.
    private var busySince: ContinuousClock.Instant?
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
        if let lastEvent, isBusy, trial != nil || room(at: lastEvent) > 0, !isFindingOut(at: lastEvent) {
            consider(lastEvent + lookTime)
        }
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
    ///   - answeredAt: When the last of them came; nil where that is now.
    ///   - roundTrip: How long the answers take that come now; nil where that is not known.
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

    /// - Parameter isSerial: Whether it carries one request at a time.
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

    /// Something about a connection changed: after it was filled, and whenever it says so.
    /// - Parameters:
    ///   - hasAnswered: Whether the peer has shown that it answers on it.
    ///   - isIdle: Whether it carries no request.
    ///   - isOpen: Whether it will ever take requests again; false after GOAWAY.
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

    /// A connection is gone.
    mutating func closed(
        _ id: ConnectionID, jitter: Double, at now: ContinuousClock.Instant
    ) -> [Action] {
        guard let index = index(of: id) else { return [] }
        let wasProven = connections[index].isProven
        if connections.remove(at: index).phase == .open { forgetRate(without: id) }
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
        for index in connections.indices where connections[index].phase == .open {
            guard let since = connections[index].idleSince, now >= since + Self.idleTime else { continue }
            connections[index].phase = .draining
            forgetRate(without: connections[index].id)
            actions.append(.drain(connections[index].id))
        }
        return actions + work(at: now)
    }

    /// No more requests: every connection finishes what it carries.
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

    /// How many connections are to be made.
    private func further(at now: ContinuousClock.Instant) -> Int {
        let room = room(at: now)
        guard room > 0, backoff.allows(at: now), trial == nil, !isFindingOut(at: now) else { return 0 }
        let open = openCount
        guard open > 0, !isSerial else { return 1 }
        return min(mostAtOnce, room, worthwhile(at: now))
    }

    /// How many connections may be made at once: the first four together, then three for each that there is, while answers
    /// take about as long as the way, and as many where they wait for the peer. All that wait there go before whatever
    /// comes next.
    private var mostAtOnce: Int {
        guard let rate, rate > 0 else { return 1 }
        if wait >= max(Self.longWait, leastRoundTrip ?? .zero) { return 0 }
        if isFree { return Self.defaultCount - openCount }
        return roundTrip <= (leastRoundTrip ?? roundTrip) * 2 ? openCount * 3 : openCount
    }

    /// How long answers wait at the peer, or for us.
    private var wait: Duration { roundTrip - (leastRoundTrip ?? roundTrip) }

    /// Whether another connection is made without a trial.
    private var isFree: Bool { openCount < Self.defaultCount && wait < Self.shortWait }

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

    /// How many further connections what waits would fill, where it would still wait when they have answered once, or
    /// has waited for so long that more is to be expected after it.
    private func worthwhile(at now: ContinuousClock.Instant) -> Int {
        guard let rate else { return 0 }
        func requests(in time: Duration) -> Double { max(1, rate * (time / .seconds(1))) }
        let time = connectTime + roundTrip
        let filled = Double(waiting) / requests(in: roundTrip / openCount)
        let hasLasted = busySince.map { now - $0 >= max(time, window) } ?? false
        let outlasting = hasLasted ? Double.infinity : Double(waiting) / requests(in: time)
        return Int(min(filled, outlasting, Double(connectionLimit)))
    }

    // MARK: Measurements

    /// How long a rate is measured: over several round trips, because answers to what was sent together come together.
    /// Before the first four connections are there a rough one is enough: none of them is compared with it.
    private var window: Duration {
        isFree && trial == nil
            ? min(max(roundTrip * 2, .milliseconds(50)), .seconds(5))
            : min(max(roundTrip * 6, .milliseconds(150)), .seconds(5))
    }
    /// Without an answer for so long, none came in that time.
    private var silence: Duration { max(roundTrip * 2, .milliseconds(20)) }
    /// How often the state is looked at, where nothing else happens.
    private var lookTime: Duration { min(max(roundTrip / 2, .milliseconds(10)), .seconds(1)) }

    private var openCount: Int { connections.count { $0.phase == .open } }

    /// Whether more waits than the connections that there are carry. They may have room for it that is being filled.
    private var isBusy: Bool { waiting > 0 && openCount > 0 }

    /// There are fewer connections than it was measured with.
    private mutating func forgetRate(without id: ConnectionID) {
        forgetRate()
        leaveTrial(id)
    }

    private mutating func forgetRate() {
        rate = nil
        throughput = HTTP2Throughput()
    }

    /// A trial ends with the last connection that is on it, and with one of the others, without which it says nothing.
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
        if trial != nil, trial?.beginsAt == nil, !isFindingOut(at: now) { trial?.beginsAt = now + roundTrip }
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

    /// Ends a trial.
    /// - Parameter rate: What those on trial and the others have brought together.
    private mutating func judge(_ rate: Double, at now: ContinuousClock.Instant) -> [Action] {
        guard let trial, let before = trial.rate else { return [] }
        self.trial = nil
        // In connections of the others.
        let gain = (rate / before - 1) * Double(trial.others)
        guard gain < Self.leastGain * Double(trial.ids.count) else {
            rest = Self.firstRest
            return []
        }
        let kept = max(0, Int(gain))
        let drained = trial.ids.dropFirst(kept)
        for id in drained { if let index = index(of: id) { connections[index].phase = .draining } }
        enough = Enough(count: trial.others + kept, until: now + rest)
        rest = min(rest * 2, Self.longestRest)
        forgetRate()
        return drained.map { .drain($0) }
    }

    /// How many connections may be made beside those that there are. Such as only finish what they carry do not count: a
    /// peer that says GOAWAY expects a successor at once.
    private func room(at now: ContinuousClock.Instant) -> Int {
        guard !isShutDown else { return 0 }
        let limit = enough.map { now < $0.until ? min($0.count, connectionLimit) : connectionLimit } ?? connectionLimit
        return max(0, limit - connections.count { $0.phase != .draining })
    }

    private var canHaveMore: Bool {
        !isShutDown && connections.count { $0.phase != .draining } < connectionLimit
    }

    private func index(of id: ConnectionID) -> Int? {
        connections.firstIndex { $0.id == id }
    }
}
