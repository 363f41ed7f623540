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

    @Test func oneConnectionIsMadeAtATimeAndOnlyUpToTheLimit() {
        var pool = busyPool(limit: 2)
        #expect(pool.demand(9, at: start) == [])
        let measured = start + .milliseconds(50)
        #expect(pool.deadline == measured)
        #expect(pool.expire(at: measured) == [.connect(2)])
        #expect(pool.demand(20, at: measured) == [])
        #expect(pool.connected(2, capacity: 1, at: measured) == [.fill(2)])
        #expect(pool.changed(2, capacity: 0, hasAnswered: true, isIdle: false, isOpen: true, at: measured) == [])
        #expect(pool.expire(at: measured + .milliseconds(50)) == [])
    }

    @Test func whatWillBeDoneBeforeAnotherConnectionIsMadeDoesNotWaitForOne() {
        var pool = HTTP2PoolStateMachine(connectionLimit: 3)
        #expect(pool.demand(1000, at: start) == [.connect(1)])
        let made = start + .milliseconds(100)
        #expect(pool.connected(1, capacity: 1, at: made) == [.fill(1)])
        pool.measured(1, answers: 0, roundTrip: .milliseconds(20))
        // A thousand answers a second: what waits is done in 110 milliseconds, and a connection takes 120.
        #expect(report(&pool, 1, answers: 1, waiting: 110, at: made) == [])
        #expect(report(&pool, 1, answers: 51, waiting: 110, at: made + .milliseconds(50)) == [])
        #expect(report(&pool, 1, answers: 101, waiting: 110, at: made + .milliseconds(100)) == [])
        #expect(report(&pool, 1, answers: 101, waiting: 150, at: made + .milliseconds(100)) == [.connect(2)])
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

    @Test(arguments: [1000, 2000])
    func aConnectionThatBringsNothingGoesAgainAndOneThatDoesStays(rate: Int) {
        var pool = HTTP2PoolStateMachine(connectionLimit: 3)
        _ = pool.demand(100_000, at: start)
        _ = pool.connected(1, capacity: 1, at: start)
        #expect(report(&pool, 1, answers: 1, waiting: 100_000, at: start) == [])
        var now = start + .milliseconds(100)
        #expect(report(&pool, 1, answers: 101, waiting: 100_000, at: now) == [.connect(2)])
        #expect(pool.connected(2, capacity: 1, at: now) == [.fill(2)])
        #expect(report(&pool, 2, answers: 1, waiting: 100_000, at: now) == [])
        #expect(pool.deadline == now + .milliseconds(300))
        now += .milliseconds(300)
        #expect(report(&pool, 2, answers: 1 + rate * 3 / 10, waiting: 100_000, at: now) == [])
        guard rate == 1000 else {
            #expect(pool.expire(at: now) == [.connect(3)])
            return
        }
        #expect(pool.expire(at: now) == [.drain(2)])
        #expect(pool.closed(2, jitter: 0.5, at: now) == [])
        #expect(report(&pool, 1, answers: 201, waiting: 100_000, at: now + .milliseconds(100)) == [])
        #expect(pool.deadline == now + .milliseconds(150), "it is measured on")
        #expect(report(&pool, 1, answers: 301, waiting: 100_000, at: now + .seconds(60)) == [.connect(3)])
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
        let measured = start + .milliseconds(50)
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
        #expect(pool.expire(at: start + .milliseconds(50)) == [.connect(2)])
        #expect(pool.shutDown() == [.drain(1), .drain(2)])
        #expect(pool.demand(5, at: start) == [])
        #expect(pool.connected(2, capacity: 1, at: start) == [])
    }
}
