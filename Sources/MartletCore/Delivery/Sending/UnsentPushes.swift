import Synchronization

/// Counts the pushes of a page that wait for the sending rate of their service. Thread-safe.
final class UnsentPushes: Sendable {
    private let count = Atomic<Int>(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func add(_ number: Int) {
        count.add(number, ordering: .relaxed)
    }
}
