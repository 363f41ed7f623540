import Testing

@testable import MartletNetwork

@Suite struct HTTP2PoolStateMachineTests {
    let start = ContinuousClock.now

    /// A pool whose first connection has answered and carries all that it may.
    private func busyPool(limit: Int = 3) -> HTTP2PoolStateMachine {
        var pool = HTTP2PoolStateMachine(connectionLimit: limit)
        #expect(pool.demand(1, at: start) == [.connect(1)])
        #expect(pool.connected(1, capacity: 1, at: start) == [.fill(1)])
        #expect(pool.demand(0, at: start) == [])
        #expect(pool.changed(1, capacity: 0, hasAnswered: true, isIdle: false, isOpen: true, at: start) == [])
        return pool
    }

    @Test func nothingIsOpenedWithoutDemand() {
        var pool = HTTP2PoolStateMachine(connectionLimit: 3)
        #expect(pool.demand(0, at: start) == [])
        #expect(pool.deadline == nil)
    }

    @Test func noMoreConnectionsAreMadeThanTheLimitAllows() {
        var pool = busyPool(limit: 2)
        #expect(pool.demand(9, at: start) == [])
        #expect(pool.deadline == start + .milliseconds(10), "it is looked at how things stand")
        #expect(pool.expire(at: start + .milliseconds(10)) == [])
        let measured = start + .milliseconds(150)
        #expect(pool.expire(at: measured) == [.connect(2)])
        #expect(pool.demand(20, at: measured) == [])
        #expect(pool.connected(2, capacity: 1, at: measured) == [.fill(2)])
        #expect(pool.changed(2, capacity: 0, hasAnswered: true, isIdle: false, isOpen: true, at: measured) == [])
        #expect(pool.expire(at: measured + .milliseconds(150)) == [])
    }

    @Test func workThatEndsBeforeAConnectionOpensDoesNotWaitForOne() {
        var pool = HTTP2PoolStateMachine(connectionLimit: 3)
        #expect(pool.demand(1000, at: start) == [.connect(1)])
        let made = start + .milliseconds(100)
        #expect(pool.connected(1, capacity: 1, at: made) == [.fill(1)])
        pool.measured(1, answers: 1, roundTrip: .milliseconds(20))
        #expect(report(&pool, 1, answers: 1, waiting: 110, at: made) == [])
        // A thousand answers a second: what waits is done in 110 milliseconds, and a connection takes 120.
        for tick in 1...20 {
            let now = made + .milliseconds(10 * tick)
            let waiting = tick == 10 ? 0 : 110
            #expect(report(&pool, 1, answers: 1 + 10 * tick, waiting: waiting, at: now) == [])
        }
        let now = made + .milliseconds(200)
        #expect(pool.demand(150, at: now) == [.connect(2)])
    }

    @Test func requestsThatWaitedAsLongAsAConnectionTakesGetOne() {
        var pool = HTTP2PoolStateMachine(connectionLimit: 3)
        #expect(pool.demand(1000, at: start) == [.connect(1)])
        let made = start + .milliseconds(100)
        #expect(pool.connected(1, capacity: 1, at: made) == [.fill(1)])
        pool.measured(1, answers: 1, roundTrip: .milliseconds(20))
        for tick in 0...11 {
            #expect(report(&pool, 1, answers: 2 + 10 * tick, waiting: 30, at: made + .milliseconds(10 * tick)) == [])
        }
        let now = made + .milliseconds(120)
        var served = pool
        #expect(served.demand(10, at: now) == [])
        #expect(report(&pool, 1, answers: 122, waiting: 30, at: now) == [.connect(2)])
        #expect(report(&served, 1, answers: 122, waiting: 10, at: now) == [], "it would have nothing to carry")
    }

    @Test func connectionsThatCarryOneRequestAtATimeAreMadeOneBehindTheOther() {
        var pool = HTTP2PoolStateMachine(connectionLimit: 3)
        #expect(pool.demand(9, at: start) == [.connect(1)])
        #expect(pool.connected(1, capacity: 1, isSerial: true, at: start) == [.fill(1)])
        #expect(
            pool.changed(1, capacity: 0, hasAnswered: true, isIdle: false, isOpen: true, at: start) == [.connect(2)])
        #expect(pool.connected(2, capacity: 1, isSerial: true, at: start) == [.fill(2)])
        #expect(
            pool.changed(2, capacity: 0, hasAnswered: true, isIdle: false, isOpen: true, at: start) == [.connect(3)])
    }

    /// A pool with one connection on which a thousand requests a second are answered, each after it has waited at the
    /// peer, and to which another is made on trial.
    private func growingPool(limit: Int, until now: inout ContinuousClock.Instant) -> HTTP2PoolStateMachine {
        var pool = HTTP2PoolStateMachine(connectionLimit: limit)
        _ = pool.demand(100_000, at: start)
        _ = pool.connected(1, capacity: 1, at: start)
        pool.measured(1, answers: 1, roundTrip: .milliseconds(1))
        #expect(report(&pool, 1, answers: 1, waiting: 100_000, at: start) == [])
        pool.measured(1, answers: 2, roundTrip: .milliseconds(21))
        for tick in 1...15 {
            #expect(
                report(&pool, 1, answers: 1 + 10 * tick, waiting: 100_000, at: start + .milliseconds(10 * tick)) == [])
        }
        now = start + .milliseconds(160)
        #expect(report(&pool, 1, answers: 161, waiting: 100_000, at: now) == [.connect(2)])
        #expect(pool.connected(2, capacity: 1, at: now) == [.fill(2)])
        #expect(report(&pool, 2, answers: 1, waiting: 100_000, at: now) == [])
        return pool
    }

    /// In hundredths of a second: a round trip, and then as long as a rate is measured.
    private static let ticksOfTrial = 18

    @Test func aConnectionThatBringsAsMuchAsTheOtherStaysAndHelpsToJudgeTheNext() {
        var now = start
        var pool = growingPool(limit: 4, until: &now)
        for tick in 1...Self.ticksOfTrial {
            now += .milliseconds(10)
            #expect(report(&pool, 2, answers: 1 + tick * 20, waiting: 100_000, at: now) == [])
        }
        now += .milliseconds(10)
        #expect(
            report(&pool, 2, answers: 1 + (Self.ticksOfTrial + 1) * 20, waiting: 100_000, at: now)
                == [.connect(3), .connect(4)])
    }

    @Test func aConnectionThatBringsNothingGoesAgain() {
        var now = start
        var pool = growingPool(limit: 2, until: &now)
        for tick in 1...Self.ticksOfTrial {
            now += .milliseconds(10)
            #expect(report(&pool, 2, answers: 1 + tick * 10, waiting: 100_000, at: now) == [])
        }
        now += .milliseconds(10)
        let judged = now
        #expect(
            report(&pool, 2, answers: 1 + (Self.ticksOfTrial + 1) * 10, waiting: 100_000, at: now) == [.drain(2)])
        #expect(pool.closed(2, jitter: 0.5, at: now) == [])
        for second in 1..<60 {
            #expect(
                report(&pool, 1, answers: 161 + 1000 * second, waiting: 100_000, at: judged + .seconds(second)) == [])
        }
        #expect(pool.deadline == judged + .seconds(60))
        let rested = judged + .seconds(60)
        #expect(report(&pool, 1, answers: 60_161, waiting: 100_000, at: rested) == [.connect(3)])
    }

    @Test func connectionsOfAGroupThatFailTogetherCountAsOneFailure() {
        var backoff = HTTP2Backoff()
        for _ in 0..<16 { backoff.failed(at: start, jitter: 0.5) }
        #expect(backoff.until == start + .seconds(1))
        backoff.failed(at: start + .seconds(1), jitter: 0.5)
        #expect(backoff.until == start + .seconds(3))
    }

    /// A connection that is full tells how many requests it has answered.
    private func report(
        _ pool: inout HTTP2PoolStateMachine, _ id: Int, answers: Int, waiting: Int, at now: ContinuousClock.Instant
    ) -> [HTTP2PoolStateMachine.Action] {
        pool.measured(id, answers: answers)
        let actions = pool.changed(id, capacity: 0, hasAnswered: true, isIdle: false, isOpen: true, at: now)
        return actions + pool.demand(waiting, at: now)
    }

    @Test func aNewConnectionIsGivenAMomentToRaiseItsLimitBeforeAnotherIsMade() {
        var pool = HTTP2PoolStateMachine(connectionLimit: 3)
        #expect(pool.demand(500, at: start) == [.connect(1)])
        #expect(pool.connected(1, capacity: 1, at: start) == [.fill(1)])
        #expect(pool.changed(1, capacity: 0, hasAnswered: false, isIdle: false, isOpen: true, at: start) == [])
        #expect(pool.deadline == start + .seconds(1))
        var raised = pool
        #expect(
            raised.changed(1, capacity: 1_000, hasAnswered: true, isIdle: true, isOpen: true, at: start) == [.fill(1)])
        #expect(pool.expire(at: start + .seconds(1)) == [.connect(2)])
    }

    @Test func aConnectionThatSaysGoAwayIsReplacedAtOnceAndDoesNotCount() {
        var pool = busyPool(limit: 1)
        #expect(pool.changed(1, capacity: 0, hasAnswered: true, isIdle: false, isOpen: false, at: start) == [])
        #expect(pool.demand(4, at: start) == [.connect(2)])
        #expect(pool.closed(1, jitter: 0.5, at: start) == [])
        #expect(pool.connected(2, capacity: 1, at: start) == [.fill(2)])
    }

    @Test func failuresDoubleThePauseUpToAMinuteAndASuccessEndsIt() {
        var pool = HTTP2PoolStateMachine(connectionLimit: 2)
        var now = start
        for (round, seconds) in [1, 2, 4, 8, 16, 32, 60, 60].enumerated() {
            #expect(pool.demand(1, at: now) == [.connect(round + 1)])
            #expect(pool.connectFailed(round + 1, jitter: 0.5, at: now) == [.failWaiting])
            #expect(pool.demand(1, at: now) == [])
            #expect(pool.deadline == now + .seconds(seconds))
            now += .seconds(seconds)
        }
        #expect(pool.demand(1, at: now) == [.connect(9)])
        #expect(pool.connected(9, capacity: 1, at: now) == [.fill(9)])
        #expect(pool.changed(9, capacity: 1, hasAnswered: true, isIdle: true, isOpen: true, at: now) == [.fill(9)])
        #expect(pool.demand(0, at: now) == [])
        #expect(pool.closed(9, jitter: 0.5, at: now) == [])
        #expect(pool.demand(1, at: now) == [.connect(10)])
    }

    @Test func chanceSpreadsThePauseByAQuarter() {
        for (jitter, seconds) in [(0.0, 0.75), (0.5, 1.0), (1.0, 1.25)] {
            var backoff = HTTP2Backoff()
            backoff.failed(at: start, jitter: jitter)
            #expect(backoff.until == start + .seconds(1) * seconds)
        }
    }

    @Test func requestsWaitForAnotherConnectionRatherThanFailWithOneAttempt() {
        var pool = busyPool()
        _ = pool.demand(5, at: start)
        let measured = start + .milliseconds(150)
        #expect(pool.expire(at: measured) == [.connect(2)])
        #expect(pool.connectFailed(2, jitter: 0.5, at: measured) == [])
        #expect(pool.expire(at: measured + .milliseconds(999)) == [])
        #expect(pool.expire(at: measured + .seconds(1)) == [.connect(3)])
    }

    @Test func aConnectionThatGoesBeforeItAnsweredAnythingDelaysItsSuccessor() {
        var pool = HTTP2PoolStateMachine(connectionLimit: 2)
        _ = pool.demand(1, at: start)
        _ = pool.connected(1, capacity: 1, at: start)
        _ = pool.changed(1, capacity: 0, hasAnswered: false, isIdle: false, isOpen: true, at: start)
        #expect(pool.closed(1, jitter: 0.5, at: start) == [])
        #expect(pool.demand(1, at: start) == [])
        #expect(pool.expire(at: start + .seconds(1)) == [.connect(2)])
    }

    @Test func aPeerThatSendsEveryConnectionAwayIsAskedTwiceAndNotInALoop() {
        var pool = HTTP2PoolStateMachine(connectionLimit: 2)
        #expect(pool.demand(1, at: start) == [.connect(1)])
        #expect(pool.connected(1, capacity: 1, at: start) == [.fill(1)])
        #expect(pool.changed(1, capacity: 0, hasAnswered: false, isIdle: true, isOpen: false, at: start) == [])
        #expect(pool.closed(1, jitter: 0.5, at: start) == [])
        #expect(pool.demand(1, at: start) == [])
        let later = start + .seconds(1)
        #expect(pool.deadline == later)
        #expect(pool.expire(at: later) == [.connect(2)])
        #expect(pool.connected(2, capacity: 1, at: later) == [.fill(2)])
        #expect(pool.changed(2, capacity: 0, hasAnswered: false, isIdle: true, isOpen: false, at: later) == [])
        #expect(pool.closed(2, jitter: 0.5, at: later) == [.failWaiting])
    }

    @Test func anIdleConnectionIsClosedAfterAMinute() {
        var pool = busyPool()
        #expect(pool.deadline == nil)
        #expect(pool.changed(1, capacity: 1, hasAnswered: true, isIdle: true, isOpen: true, at: start) == [])
        #expect(pool.deadline == start + .seconds(60))
        #expect(pool.expire(at: start + .seconds(59)) == [])
        #expect(pool.expire(at: start + .seconds(60)) == [.drain(1)])
        #expect(pool.deadline == nil)
        #expect(pool.demand(1, at: start) == [.connect(2)])
    }

    @Test func aShutDownDrainsEveryConnectionAndOpensNone() {
        var pool = busyPool()
        _ = pool.demand(5, at: start)
        #expect(pool.expire(at: start + .milliseconds(150)) == [.connect(2)])
        #expect(pool.shutDown() == [.drain(1), .drain(2)])
        #expect(pool.demand(5, at: start) == [])
        #expect(pool.connected(2, capacity: 1, at: start) == [])
    }
}
