/// A set of the most recently inserted elements. Beyond a limit, the oldest elements are removed.
struct RecentSet<Element: Hashable & Sendable>: Sendable {
    private var order: [Element: UInt64] = [:]
    private var clock: UInt64 = 0
    private let countLimit: Int

    init(countLimit: Int) {
        self.countLimit = countLimit
    }

    var count: Int { order.count }

    func contains(_ element: Element) -> Bool { order[element] != nil }

    /// Adds an element, or makes it the newest. If there are then too many elements, the oldest tenth is removed at
    /// once, because finding the oldest elements takes time proportional to the number of elements.
    mutating func insert(_ element: Element) {
        clock += 1
        order[element] = clock
        guard order.count > countLimit else { return }
        for (old, _) in order.sorted(by: { $0.value < $1.value }).prefix(max(1, countLimit / 10)) { order[old] = nil }
    }
}
