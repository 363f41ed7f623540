/// Identifies a timer of a loop.
struct TimerID: Hashable {
    fileprivate let number: UInt64
}

/// Timers, ordered by due time.
struct TimerHeap<Action> {
    private struct Entry {
        let due: ContinuousClock.Instant
        let id: TimerID
    }

    private var heap: [Entry] = []
    private var actions: [TimerID: Action] = [:]
    private var lastNumber: UInt64 = 0

    /// The due time of the next timer. The returned time can be too early, because a cancelled timer may still be in
    /// the heap, but it is never too late.
    var nextDue: ContinuousClock.Instant? { actions.isEmpty ? nil : heap.first?.due }

    var isEmpty: Bool { actions.isEmpty }

    mutating func insert(due: ContinuousClock.Instant, _ action: Action) -> TimerID {
        lastNumber += 1
        let id = TimerID(number: lastNumber)
        actions[id] = action
        heap.append(Entry(due: due, id: id))
        siftUp(heap.count - 1)
        return id
    }

    /// Cancels a timer. Does nothing if the timer has already fired.
    /// - Returns: The timer's action, so that the caller releases it, and not this call. Objects that the action holds
    ///   may be deinitialised when it is released, and may then cancel further timers.
    mutating func cancel(_ id: TimerID) -> Action? {
        guard let action = actions.removeValue(forKey: id) else { return nil }
        if heap.count > 64, heap.count > 2 * actions.count { removeCancelled() }
        return action
    }

    /// Removes one due timer and returns its action. Timers with the same due time are returned in order of insertion.
    mutating func popDue(at now: ContinuousClock.Instant) -> Action? {
        while let first = heap.first, first.due <= now {
            removeFirst()
            if let action = actions.removeValue(forKey: first.id) { return action }
        }
        return nil
    }

    private mutating func removeCancelled() {
        heap.removeAll { actions[$0.id] == nil }
        heap.sort(by: Self.isBefore)
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown(0)
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard Self.isBefore(heap[child], heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var first = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && Self.isBefore(heap[child], heap[first]) {
                first = child
            }
            guard first != parent else { return }
            heap.swapAt(first, parent)
            parent = first
        }
    }

    private static func isBefore(_ one: Entry, _ other: Entry) -> Bool {
        (one.due, one.id.number) < (other.due, other.id.number)
    }
}
