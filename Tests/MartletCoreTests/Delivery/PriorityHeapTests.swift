import Testing

@testable import MartletCore

struct PriorityHeapTests {
    @Test func theFirstIsThatOfTheLeastPriorityAndOfEqualOnesTheOlder() {
        var heap = PriorityHeap<String, Int>()
        for (key, priority) in [("c", 3), ("a", 1), ("b", 1), ("d", 0)] { heap.set(key, priority) }
        heap.set("d", 2)
        #expect((0..<5).map { _ in heap.popFirst()?.key } == ["a", "b", "d", "c", nil])
    }

    @Test func aReturnedElementKeepsItsAge() {
        var heap = PriorityHeap<String, Int>()
        for key in ["a", "b"] { heap.set(key, 1) }
        let first = heap.popFirst()
        if let first { heap.putBack(first) }
        #expect(heap.first?.key == "a")
    }

    @Test(arguments: 0..<10) func itIsAlwaysInOrder(seed: UInt64) {
        var random = Seeded(seed)
        var heap = PriorityHeap<Int, Int>()
        var model: [Int: Int] = [:]
        for _ in 0..<2000 {
            let key = Int.random(in: 0..<60, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let priority = Int.random(in: 0..<1000, using: &random)
                heap.set(key, priority)
                model[key] = priority
            case 2: #expect(heap.remove(key) == (model.removeValue(forKey: key) != nil))
            default:
                let first = heap.popFirst()
                #expect(first?.priority == model.values.min())
                if let first { #expect(model.removeValue(forKey: first.key) == first.priority) }
            }
            #expect(heap.count == model.count)
            #expect(heap[key] == model[key])
        }
    }
}
