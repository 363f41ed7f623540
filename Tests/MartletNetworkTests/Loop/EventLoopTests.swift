import Synchronization
import Testing

@testable import MartletNetwork

struct EventLoopTests {
    @Test func aLoopThatWorksIsBusyAndOneThatWaitsIsNot() async throws {
        let loop = try EventLoop()
        let before = loop.busyTime
        let clock = ContinuousClock()
        await loop.run {
            let end = clock.now + .milliseconds(20)
            while clock.now < end {}
        }
        // The turn has to end before it counts.
        await loop.run {}
        let worked = loop.busyTime - before
        #expect(worked >= .milliseconds(20))
        var hasIdled = false
        // The system may keep the loop from its processor at any time, so one quiet time of many will do.
        for _ in 0..<100 where !hasIdled {
            let (begun, busy) = (clock.now, loop.busyTime)
            while clock.now - begun < .milliseconds(10) { await Task.yield() }
            await loop.run {}
            await loop.run {}
            hasIdled = loop.busyTime - busy < .milliseconds(5)
        }
        #expect(hasIdled)
    }

    private actor OnLoop {
        private let loop: EventLoop
        private var count = 0
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(_ loop: EventLoop) { self.loop = loop }

        func isOnLoop() -> Bool { loop.isCurrent }
        func add() { count += 1 }
        func total() -> Int { count }
        nonisolated func assumedTotal() -> Int { assumeIsolated { $0.count } }
    }

    /// Cancels a timer of its loop as it ends.
    private final class Holder {
        private let loop: EventLoop
        private let timer: TimerID
        private let ended: @Sendable () -> Void

        init(_ loop: EventLoop, _ timer: TimerID, ended: @escaping @Sendable () -> Void) {
            self.loop = loop
            self.timer = timer
            self.ended = ended
        }

        deinit {
            loop.cancelTimer(timer)
            ended()
        }
    }

    private actor Elsewhere {
        func double(_ number: Int) -> Int { number * 2 }
    }

    @Test func anActorLivesOnTheLoop() async throws {
        let loop = try EventLoop()
        let actor = OnLoop(loop)
        #expect(await actor.isOnLoop())
        #expect(!loop.isCurrent)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { await actor.add() } }
        }
        #expect(await actor.total() == 100)
        #expect(await loop.run { actor.assumedTotal() } == 100)
    }

    @Test func aTaskWithPreferenceRunsOnTheLoopAlsoAfterCallsOfActors() async throws {
        let loop = try EventLoop()
        let other = Elsewhere()
        let pinned = OnLoop(try EventLoop())
        let indices = await Task(executorPreference: loop) {
            var indices = [loop.isCurrent]
            _ = await other.double(2)
            indices.append(loop.isCurrent)
            await pinned.add()
            indices.append(loop.isCurrent)
            await Task.yield()
            indices.append(loop.isCurrent)
            async let child = { loop.isCurrent }()
            indices.append(await child)
            return indices
        }.value
        #expect(indices == [true, true, true, true, true])
    }

    @Test func aCancelledTimersValueMayCancelAnotherTimer() async throws {
        let loop = try EventLoop()
        let hasEnded = Mutex(false)
        await loop.run {
            let later = ContinuousClock.now + .seconds(3600)
            let other = loop.startTimer(due: later) {}
            let timer = loop.startTimer(
                due: later,
                { [holder = Holder(loop, other) { hasEnded.withLock { $0 = true } }] in
                    withExtendedLifetime(holder) {}
                })
            loop.cancelTimer(timer)
        }
        #expect(hasEnded.withLock { $0 })
    }

    @Test func callsRunInTheOrderOfTheirQueuing() async throws {
        let loop = try EventLoop()
        let seen = Mutex<[Int]>([])
        for number in 0..<1000 { loop.enqueue { seen.withLock { $0.append(number) } } }
        await loop.run {}
        #expect(seen.withLock { $0 } == Array(0..<1000))
    }

    @Test func timersFireInOrderAndNotBeforeTheirTime() async throws {
        let loop = try EventLoop()
        let start = ContinuousClock.now
        let fired = Mutex<[Int]>([])
        await withCheckedContinuation { continuation in
            loop.enqueue {
                for number in [3, 1, 2] {
                    _ = loop.startTimer(due: start + .milliseconds(10 * number)) {
                        fired.withLock { $0.append(number) }
                        if number == 3 { continuation.resume() }
                    }
                }
                let cancelled = loop.startTimer(due: start) { fired.withLock { $0.append(0) } }
                loop.cancelTimer(cancelled)
            }
        }
        #expect(fired.withLock { $0 } == [1, 2, 3])
        #expect(ContinuousClock.now - start >= .milliseconds(30))
    }

    @Test func workThatQueuesItselfAgainStarvesNothing() async throws {
        let loop = try EventLoop()
        let isOver = Mutex(false)
        final class Spinner: Sendable {
            let loop: EventLoop
            let isOver: @Sendable () -> Bool
            init(_ loop: EventLoop, _ isOver: @escaping @Sendable () -> Bool) {
                self.loop = loop
                self.isOver = isOver
            }
            func turn() {
                guard !isOver() else { return }
                loop.enqueue { self.turn() }
            }
        }
        let flag = SendableFlag()
        Spinner(loop) { flag.isSet }.turn()
        await withCheckedContinuation { continuation in
            loop.enqueue {
                _ = loop.startTimer(due: ContinuousClock.now + .milliseconds(5)) { continuation.resume() }
            }
        }
        flag.set()
        isOver.withLock { $0 = true }
        await loop.run {}
    }

    private final class SendableFlag: Sendable {
        private let value = Atomic<Bool>(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
}
