/// A priority queue in which each key occurs once. Finding the first key takes O(1); setting or removing a key takes
/// O(log n). Among equal priorities, the oldest key is first.
struct PriorityHeap<Key: Hashable & Sendable, Priority: Comparable & Sendable>: Sendable {
    struct Entry: Sendable {
        let key: Key
        let priority: Priority
        fileprivate let age: UInt64

        fileprivate func precedes(_ other: Entry) -> Bool {
            priority == other.priority ? age < other.age : priority < other.priority
        }
    }

    private var entries: [Entry] = []
    private var indices: [Key: Int] = [:]
    private var lastAge: UInt64 = 0

    var count: Int { entries.count }
    var first: Entry? { entries.first }
    var keys: some Collection<Key> { indices.keys }

    subscript(key: Key) -> Priority? { indices[key].map { entries[$0].priority } }

    /// Inserts a key, or changes its priority.
    mutating func set(_ key: Key, _ priority: Priority) {
        lastAge += 1
        let entry = Entry(key: key, priority: priority, age: lastAge)
        if let index = indices[key] {
            entries[index] = entry
            settle(index)
        } else {
            entries.append(entry)
            indices[key] = entries.count - 1
            settle(entries.count - 1)
        }
    }

    mutating func popFirst() -> Entry? {
        guard let first = entries.first else { return nil }
        remove(first.key)
        return first
    }

    /// Puts back an entry that `popFirst` returned. Among keys of the same priority, the entry gets its old position.
    mutating func putBack(_ entry: Entry) {
        entries.append(entry)
        indices[entry.key] = entries.count - 1
        settle(entries.count - 1)
    }

    /// Removes a key.
    /// - Returns: Whether the key was present.
    @discardableResult
    mutating func remove(_ key: Key) -> Bool {
        guard let index = indices.removeValue(forKey: key) else { return false }
        let last = entries.removeLast()
        if index < entries.count {
            entries[index] = last
            indices[last.key] = index
            settle(index)
        }
        return true
    }

    /// Moves the entry at an index up or down to its correct position.
    private mutating func settle(_ start: Int) {
        var index = start
        while index > 0, entries[index].precedes(entries[(index - 1) / 2]) {
            swap(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
        while let child = firstChild(of: index), entries[child].precedes(entries[index]) {
            swap(index, child)
            index = child
        }
    }

    private func firstChild(of index: Int) -> Int? {
        let left = 2 * index + 1
        guard left < entries.count else { return nil }
        let right = left + 1
        return right < entries.count && entries[right].precedes(entries[left]) ? right : left
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        entries.swapAt(one, other)
        indices[entries[one].key] = one
        indices[entries[other].key] = other
    }
}
