import Testing

@testable import MartletNetwork

/// A pool and a peer far away, in simulated time.
@Suite struct HTTP2PoolGrowthTests {
    @Test(arguments: [20, 30, 150])
    func aPoolGrowsQuicklyWhereTheWayIsLong(milliseconds: Int) {
        var world = FarWorld(roundTrip: .milliseconds(milliseconds), outstanding: 160_000, limit: 32)
        world.run(for: .milliseconds(max(2000, milliseconds * 80)))
        #expect(world.open == 32)
        #expect(world.drained == 0)
    }

    @Test func whereTheWayIsLongAPoolGrowsInLargeSteps() {
        var world = FarWorld(roundTrip: .milliseconds(30), outstanding: 160_000, limit: 32)
        world.run(for: .milliseconds(700))
        #expect(world.open == 16)
        world.run(for: .milliseconds(400))
        #expect(world.open == 32)
    }

    @Test func toANearPeerThatAnswersAtOnceFourConnectionsAreMadeTogether() {
        var world = FarWorld(roundTrip: .milliseconds(1), outstanding: 160_000, limit: 32, rate: 500_000)
        world.run(for: .milliseconds(120))
        #expect((world.made, world.open) == (4, 4))
        world.run(for: .seconds(3))
        #expect(world.open == 4, "the others have brought nothing")
    }

    @Test func aPeerAtWhichAnswersWaitGetsNoFurtherConnection() {
        var world = FarWorld(roundTrip: .milliseconds(1), outstanding: 160_000, limit: 32, rate: 10_000)
        world.run(for: .seconds(10))
        #expect(world.made == 1)
        #expect(world.answered > 98_000)
    }

    @Test("Pages of one send, of which few wait at a time, open as many as they fill")
    func aPoolGrowsAsFarAsWhatWaitsFillsIt() {
        var world = FarWorld(roundTrip: .milliseconds(30), outstanding: 20_000, limit: 32)
        world.run(for: .seconds(4))
        #expect((16...20).contains(world.open))
        #expect(world.drained == 0)
    }

    @Test(arguments: [20_000, 33_000, 200_000])
    func aPoolStaysSmallWhereThePeerIsTheLimit(rate: Int) {
        var world = FarWorld(roundTrip: .milliseconds(30), outstanding: 160_000, limit: 32, rate: rate)
        world.run(for: .seconds(30))
        // A connection brings 33,000 a second.
        #expect(world.open <= max(4, rate / 33_000 + 2))
        #expect(world.answered > 29 * min(rate, 180_000), "it brings what there is to bring")
        #expect(world.made <= 32)
    }

    @Test func aPageThatIsDoneBeforeAConnectionIsMadeGetsNone() {
        var world = FarWorld(roundTrip: .milliseconds(30), outstanding: 0, limit: 32)
        for _ in 0..<50 {
            world.add(2500)
            world.run(for: .milliseconds(400))
        }
        #expect(world.answered == 125_000)
        #expect(world.made == 1)
    }
}

/// Requests, the pool that shares them out and the peer that answers them. Time passes in milliseconds.
private struct FarWorld {
    private struct Member {
        var connectsAt: Int?
        var isOpen = true
        var limit = 1
        var answers = 0
        var underWay = 0
    }

    private struct Answer {
        let member: Int
        let count: Int
        var sentAt: Int
    }

    private static let streams = 1000
    private let begin = ContinuousClock.now
    private let roundTrip: Int
    /// How many are always asked for: what is answered is followed by others.
    private let outstanding: Int
    /// What the peer answers in a millisecond, on all connections together.
    private let pace: Int?

    private var pool: HTTP2PoolStateMachine
    private var members: [Int: Member] = [:]
    private var onTheWay: [Int: [Answer]] = [:]
    /// What the peer has not come to, in the order in which it came.
    private var backlog: [Answer] = []
    private var waiting: Int
    private var time = 0
    private(set) var answered = 0
    private(set) var made = 0
    private(set) var drained = 0

    init(roundTrip: Duration, outstanding: Int, limit: Int, rate: Int? = nil) {
        self.roundTrip = Int(roundTrip / .milliseconds(1))
        self.outstanding = outstanding
        waiting = outstanding
        pace = rate.map { $0 / 1000 }
        pool = HTTP2PoolStateMachine(connectionLimit: limit)
    }

    var open: Int { members.values.count { $0.isOpen && $0.connectsAt == nil } }

    private var now: ContinuousClock.Instant { begin + .milliseconds(time) }

    mutating func add(_ count: Int) {
        waiting += count
    }

    mutating func run(for duration: Duration) {
        let end = time + Int(duration / .milliseconds(1))
        while time < end {
            time += 1
            connect()
            answer()
            fill()
            review()
        }
    }

    private mutating func connect() {
        for id in members.keys.sorted() where members[id]?.connectsAt.map({ $0 <= time }) ?? false {
            members[id]?.connectsAt = nil
            perform(pool.connected(id, capacity: 1, at: now))
        }
    }

    private mutating func answer() {
        backlog += onTheWay.removeValue(forKey: time) ?? []
        var left = pace ?? .max
        var latest: [Int: Int] = [:]
        while left > 0, let first = backlog.first {
            let count = min(left, first.count)
            left -= count
            members[first.member]?.answers += count
            members[first.member]?.underWay -= count
            members[first.member]?.limit = Self.streams
            latest[first.member] = first.sentAt
            answered += count
            if outstanding > 0 { waiting += count }
            if count == first.count {
                backlog.removeFirst()
            } else {
                backlog[0] = Answer(member: first.member, count: first.count - count, sentAt: first.sentAt)
            }
        }
        for (id, sentAt) in latest.sorted(by: { $0.key < $1.key }) {
            pool.measured(
                id, answers: members[id]?.answers ?? 0, at: now, roundTrip: .milliseconds(time - sentAt))
        }
    }

    private mutating func fill() {
        for id in members.keys.sorted() {
            guard let member = members[id], member.isOpen, member.connectsAt == nil else { continue }
            let count = min(waiting, member.limit - member.underWay)
            guard count > 0 else { continue }
            waiting -= count
            members[id]?.underWay += count
            onTheWay[time + roundTrip, default: []].append(Answer(member: id, count: count, sentAt: time))
        }
    }

    private mutating func review() {
        perform(pool.demand(waiting, at: now))
        for id in members.keys.sorted() {
            guard let member = members[id], member.connectsAt == nil else { continue }
            perform(
                pool.changed(
                    id, capacity: member.isOpen ? member.limit - member.underWay : 0, hasAnswered: member.answers > 0,
                    isIdle: member.underWay == 0, isOpen: member.isOpen, at: now))
        }
        if let deadline = pool.deadline, deadline <= now { perform(pool.expire(at: now)) }
        for (id, member) in members where !member.isOpen && member.underWay == 0 {
            members[id] = nil
            perform(pool.closed(id, jitter: 0.5, at: now))
        }
    }

    private mutating func perform(_ actions: [HTTP2PoolStateMachine.Action]) {
        for action in actions {
            switch action {
            case .connect(let id):
                made += 1
                members[id] = Member(connectsAt: time + 3 * roundTrip)
            case .drain(let id):
                drained += 1
                members[id]?.isOpen = false
            case .fill, .failWaiting: break
            }
        }
    }
}
