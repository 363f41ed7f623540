import Synchronization
import Testing

@testable import MartletCore

@Suite("Work of a key runs in order, and work of other keys does not wait for it")
struct KeyedWorkTests {
    /// What happened, in order.
    private final class Log: Sendable {
        private let entries = Mutex<[String]>([])
        var all: [String] { entries.withLock(\.self) }

        func add(_ entry: String) {
            entries.withLock { $0.append(entry) }
        }
    }

    private let work = KeyedWork<String>()
    private let log = Log()

    /// Begins work that waits until the stream of the returned continuation ends. Returns once the work has begun.
    private func begin(_ key: String) async -> (end: AsyncStream<Void>.Continuation, task: Task<Void, Never>) {
        let (ends, end) = AsyncStream<Void>.makeStream()
        let (begun, didBegin) = AsyncStream<Void>.makeStream()
        let task = Task { [work, log] in
            await work.run(key) {
                didBegin.finish()
                for await _ in ends {}
                log.add("\(key) ends")
            }
        }
        for await _ in begun {}
        return (end, task)
    }

    @Test func workOfAnotherKeyDoesNotWait() async {
        let (end, first) = await begin("a")
        await work.run("b") { [log] in log.add("b") }
        end.finish()
        await first.value
        #expect(log.all == ["b", "a ends"])
    }

    @Test func workOfTheSameKeyWaits() async {
        let (end, first) = await begin("a")
        async let second: Void = work.run("a") { [log] in log.add("second") }
        await work.run("b") { [log] in log.add("b") }
        end.finish()
        await second
        await first.value
        #expect(log.all == ["b", "a ends", "second"])
    }

    @Test func workThatRunsAloneWaitsForEveryKeyAndAllLaterWorkWaitsForIt() async {
        let (endA, a) = await begin("a")
        let (endB, b) = await begin("b")
        async let alone: Void = work.runAlone { [log] in log.add("alone") }
        // The call has taken its place when no key has a last task any more.
        while work.keyCount > 0 { await Task.yield() }
        async let later: Void = work.run("c") { [log] in log.add("c") }
        endA.finish()
        await a.value
        endB.finish()
        await later
        await alone
        await b.value
        #expect(log.all == ["a ends", "b ends", "alone", "c"])
    }

    @Test func nothingIsKeptOfWorkThatHasEnded() async {
        for key in ["a", "b", "a"] { await work.run(key) {} }
        await work.runAlone {}
        #expect(work.keyCount == 0)
    }
}
