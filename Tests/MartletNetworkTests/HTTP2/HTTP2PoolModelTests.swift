import MartletTesting
import Testing

@testable import MartletNetwork

/// Random events against what must hold of a pool whatever happens.
@Suite struct HTTP2PoolModelTests {
    @Test(arguments: UInt64(0)..<100)
    func nothingIsLostNoLimitIsPassedAndNothingStaysBehind(seed: UInt64) {
        var world = PoolWorld(seed: seed)
        for step in 0..<400 {
            world.happen()
            world.check("seed \(seed), step \(step)")
        }
        world.comeToRest("seed \(seed)")
    }
}

/// A pool's state machine with a peer and a clock that chance moves.
private struct PoolWorld {
    private struct Member {
        var isConnecting = true
        var isOpen = true
        var limit = 1
        var underWay = 0
        var answers = 0
        var capacity: Int { isOpen && !isConnecting ? max(0, limit - underWay) : 0 }
    }

    private var chance: SeededGenerator
    private var now = ContinuousClock.now
    private var pool: HTTP2PoolStateMachine
    private var members: [Int: Member] = [:]
    private var waiting = 0
    private var added = 0
    private var reported = 0

    init(seed: UInt64) {
        chance = SeededGenerator(seed: seed)
        pool = HTTP2PoolStateMachine(connectionLimit: [1, 2, 3, 4, 8, 32][Int(seed % 6)])
    }

    /// Lets one thing happen, and the pool see to it.
    mutating func happen() {
        switch chance.below(12) {
        case 0, 1: ask(for: 1 + chance.below(50))
        case 2: connectOrFail()
        case 3, 4, 5, 6: answer()
        case 7: changeLimit()
        case 8: sayGoodbye()
        case 9: lose()
        default: pass()
        }
        settle()
    }

    private mutating func ask(for count: Int) {
        added += count
        waiting += count
    }

    private mutating func connectOrFail() {
        guard let id = one(where: \.isConnecting) else { return }
        if chance.below(4) == 0 {
            members[id] = nil
            perform(pool.connectFailed(id, jitter: 0.5, at: now))
        } else {
            members[id]?.isConnecting = false
            perform(pool.connected(id, capacity: 1, at: now))
        }
    }

    private mutating func answer() {
        guard let id = one(where: { $0.underWay > 0 }), var member = members[id] else { return }
        let count = 1 + chance.below(member.underWay)
        member.underWay -= count
        member.answers += count
        reported += count
        members[id] = member
    }

    private mutating func changeLimit() {
        guard let id = one(where: { !$0.isConnecting }) else { return }
        members[id]?.limit = chance.one(of: [0, 1, 1, 10, 100])
    }

    /// The peer says GOAWAY: some of what is under way was not processed.
    private mutating func sayGoodbye() {
        guard let id = one(where: { !$0.isConnecting && $0.isOpen }), var member = members[id] else { return }
        let count = chance.below(member.underWay + 1)
        member.isOpen = false
        member.underWay -= count
        waiting += count
        members[id] = member
    }

    private mutating func lose() {
        guard let id = one(where: { !$0.isConnecting }) else { return }
        close(id)
    }

    private mutating func close(_ id: Int) {
        reported += members[id]?.underWay ?? 0
        members[id] = nil
        perform(pool.closed(id, jitter: 0.5, at: now))
    }

    private mutating func pass() {
        if let deadline = pool.deadline, chance.below(2) == 0 {
            now = max(now, deadline)
        } else {
            now += .milliseconds(chance.below(200))
        }
        guard let deadline = pool.deadline, deadline <= now else { return }
        expire()
    }

    private mutating func expire() {
        tell()
        perform(pool.expire(at: now))
        #expect(pool.deadline.map { $0 > now } ?? true, "it would be called again at once")
    }

    private func one(where matches: (Member) -> Bool) -> Int? {
        members.filter { matches($0.value) }.keys.min()
    }

    private mutating func perform(_ actions: [HTTP2PoolStateMachine.Action]) {
        checkGrowth(actions)
        for action in actions {
            switch action {
            case .connect(let id): members[id] = Member()
            case .fill: break
            case .drain(let id): members[id]?.isOpen = false
            case .failWaiting:
                reported += waiting
                waiting = 0
            }
        }
    }

    /// At most three connections are made for each that there is, and none while it is open what others bring.
    private func checkGrowth(_ actions: [HTTP2PoolStateMachine.Action]) {
        let made = actions.count { if case .connect = $0 { true } else { false } }
        guard made > 0 else { return }
        let open = members.values.count { $0.isOpen && !$0.isConnecting }
        #expect(made <= max(1, 3 * open), "it is more than four times as large")
        #expect(!members.values.contains { $0.isConnecting }, "others are being made")
    }

    /// What waits goes where there is room, and connections that are done with go.
    private mutating func settle() {
        for id in members.keys.sorted() {
            let count = min(waiting, members[id]?.capacity ?? 0)
            waiting -= count
            members[id]?.underWay += count
        }
        perform(pool.demand(waiting, at: now))
        tell()
        let done = members.filter { !$0.value.isConnecting && !$0.value.isOpen && $0.value.underWay == 0 }
        for id in done.keys.sorted() { close(id) }
    }

    private mutating func tell() {
        for (id, member) in members { pool.measured(id, answers: member.answers) }
        for id in members.keys.sorted() {
            guard let member = members[id], !member.isConnecting else { continue }
            perform(
                pool.changed(
                    id, capacity: member.capacity, hasAnswered: member.answers > 0, isIdle: member.underWay == 0,
                    isOpen: member.isOpen, at: now))
        }
    }

    func check(_ timestamp: String) {
        let underWay = members.values.reduce(0) { $0 + $1.underWay }
        #expect(added == waiting + underWay + reported, "requests are lost: \(timestamp)")
        let kept = members.values.count { $0.isOpen }
        #expect(kept <= pool.connectionLimit, "too many connections: \(timestamp)")
        let hasHope = !members.isEmpty || pool.deadline != nil
        #expect(waiting == 0 || hasHope, "what waits is forgotten: \(timestamp)")
    }

    /// Nothing more is asked for and everything is answered: all connections go in the end.
    mutating func comeToRest(_ timestamp: String) {
        var rounds = 0
        while rounds < 1000, !members.isEmpty || waiting > 0 || pool.deadline != nil {
            rounds += 1
            for id in members.keys.sorted() {
                guard var member = members[id], !member.isConnecting else { continue }
                member.limit = 10
                member.answers += member.underWay
                reported += member.underWay
                member.underWay = 0
                members[id] = member
            }
            if let id = one(where: \.isConnecting) {
                members[id]?.isConnecting = false
                perform(pool.connected(id, capacity: 1, at: now))
            } else if let deadline = pool.deadline {
                now = max(now, deadline)
                expire()
            }
            settle()
        }
        #expect(rounds < 1000, "it does not come to rest: \(timestamp)")
        #expect(added == reported, "\(timestamp)")
    }
}
