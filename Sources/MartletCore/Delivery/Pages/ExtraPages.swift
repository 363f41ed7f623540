import Synchronization

/// Counts the pages that are sent while another page of the same delivery is in progress. Thread-safe.
final class ExtraPages: Sendable {
    private let count = Atomic<Int>(0)

    /// Counts one more page, if at most `limit` pages are then in progress.
    /// - Parameter limit: The maximum number of pages.
    /// - Returns: Whether the page may be sent.
    func take(of limit: Int) -> Bool {
        guard count.add(1, ordering: .relaxed).newValue > limit else { return true }
        giveBack(1)
        return false
    }

    /// The number of extra pages in progress.
    var taken: Int { count.load(ordering: .relaxed) }

    func giveBack(_ number: Int) {
        count.subtract(number, ordering: .relaxed)
    }
}
