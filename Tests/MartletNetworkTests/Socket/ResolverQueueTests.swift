import Testing

@testable import MartletNetwork

struct ResolverQueueTests {
    private let now = ContinuousClock.now
    private var later: ContinuousClock.Instant { now + .seconds(10) }

    @discardableResult
    private func add(_ name: String, to queue: inout ResolverQueue<String>, isUntrusted: Bool = true) -> Bool {
        queue.add(name, site: isUntrusted ? ResolverQueue<String>.site(of: name) : nil, before: later)
    }

    @Test func theOperatorsNamesGoInTheirOrder() {
        var queue = ResolverQueue<String>()
        for name in ["a.x", "b.x", "c.x", "d.x", "e.x"] { add(name, to: &queue, isUntrusted: false) }
        let asked = (0..<6).map { _ in queue.next()?.question }
        #expect(asked == ["a.x", "b.x", "c.x", "d.x", "e.x", nil])
    }

    @Test func oneNameOfASiteIsResolvedAtATime() throws {
        var queue = ResolverQueue<String>()
        for name in ["a.slow.example", "b.slow.example", "c.SLOW.example", "push.other.org"] { add(name, to: &queue) }
        let asked = queue.next()
        let first = try #require(asked)
        #expect(first.question == "a.slow.example")
        let others = [queue.next()?.question, queue.next()?.question]
        #expect(others == ["push.other.org", nil])
        queue.finish(first)
        let next = queue.next()?.question
        #expect(next == "b.slow.example")
    }

    @Test func aSiteThatWasAskedGoesBehindTheOthers() throws {
        var queue = ResolverQueue<String>()
        for name in ["1.a.x", "2.a.x", "1.b.x", "1.c.x", "1.d.x", "1.e.x"] { add(name, to: &queue) }
        let asked = queue.next()
        let first = try #require(asked)
        let others = [queue.next()?.question, queue.next()?.question, queue.next()?.question]
        #expect(others == ["1.b.x", "1.c.x", nil])
        queue.finish(first)
        let next = queue.next()?.question
        #expect(next == "1.d.x")
    }

    @Test func strangersLeaveAThreadToTheOperator() {
        var queue = ResolverQueue<String>()
        for name in ["a.1", "a.2", "a.3", "a.4"] { add(name, to: &queue) }
        let asked = (0..<4).map { _ in queue.next()?.question }
        #expect(asked == ["a.1", "a.2", "a.3", nil])
        add("push.example", to: &queue, isUntrusted: false)
        let next = queue.next()?.question
        #expect(next == "push.example")
    }

    @Test func expiredLookupsAreNotMade() {
        var queue = ResolverQueue<String>()
        add("a.x", to: &queue)
        #expect(queue.removeLate(at: now).isEmpty)
        #expect(queue.removeLate(at: later) == ["a.x"])
        #expect(queue.next() == nil)
    }

    @Test func namesThatDevicesChoseWaitUpToALimit() {
        var queue = ResolverQueue<String>()
        for number in 0..<1000 { #expect(add("\(number).x", to: &queue)) }
        #expect(!add("more.x", to: &queue))
        #expect(add("push.example", to: &queue, isUntrusted: false))
    }
}
