import Testing

@testable import MartletNetwork

struct TimerHeapTests {
    private let start = ContinuousClock.now

    @Test func timersComeInTheOrderInWhichTheyFallDue() {
        var heap = TimerHeap<Int>()
        for number in [5, 3, 9, 1, 7] { _ = heap.insert(due: start + .seconds(number), number) }
        #expect(heap.nextDue == start + .seconds(1))
        var fired: [Int] = []
        while let number = heap.popDue(at: start + .seconds(7)) { fired.append(number) }
        #expect(fired == [1, 3, 5, 7])
        #expect(!heap.isEmpty)
    }

    @Test func timersDueAtTheSameTimeKeepTheirOrder() {
        var heap = TimerHeap<Int>()
        for number in 0..<20 { _ = heap.insert(due: start, number) }
        #expect((0..<20).map { _ in heap.popDue(at: start) } == Array(0..<20))
    }

    @Test func aCancelledTimerNeverFires() {
        var heap = TimerHeap<Int>()
        let ids = (0..<1000).map { heap.insert(due: start + .milliseconds($0 % 37), $0) }
        for id in ids where heap.isEmpty == false { if id != ids[500] { _ = heap.cancel(id) } }
        #expect(heap.popDue(at: start + .seconds(1)) == 500)
        #expect(heap.popDue(at: start + .seconds(1)) == nil)
        #expect(heap.isEmpty)
        #expect(heap.cancel(ids[500]) == nil)
        #expect(heap.nextDue == nil)
    }
}
