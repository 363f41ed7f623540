import Synchronization

/// The pages that are sent beside another of their delivery. Thread-safe.
final class ExtraPages: Sendable {
    private let count = Atomic<Int>(0)

    /// - Parameter limit: How many there may be.
    /// - Returns: Whether there may be one more.
    func take(of limit: Int) -> Bool {
        guard count.add(1, ordering: .relaxed).newValue > limit else { return true }
        giveBack(1)
        return false
    }

    /// How many there are.
    var taken: Int { count.load(ordering: .relaxed) }

    func giveBack(_ number: Int) {
        count.subtract(number, ordering: .relaxed)
    }
}
