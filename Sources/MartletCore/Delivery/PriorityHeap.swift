/// Keys by priority, each once: the first is found at once, any other changed or taken out in O(log n). Of equal
/// priorities the older one is first.
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
    private var places: [Key: Int] = [:]
    private var lastAge: UInt64 = 0

    var count: Int { entries.count }
    var first: Entry? { entries.first }
    var keys: some Collection<Key> { places.keys }

    subscript(key: Key) -> Priority? { places[key].map { entries[$0].priority } }

    /// Puts a key in, or where it belongs by another priority.
    mutating func set(_ key: Key, _ priority: Priority) {
        lastAge += 1
        let entry = Entry(key: key, priority: priority, age: lastAge)
        if let place = places[key] {
            entries[place] = entry
            settle(place)
        } else {
            entries.append(entry)
            places[key] = entries.count - 1
            settle(entries.count - 1)
        }
    }

    mutating func popFirst() -> Entry? {
        guard let first = entries.first else { return nil }
        remove(first.key)
        return first
    }

    /// Puts back what `popFirst` gave, as old as it was.
    mutating func putBack(_ entry: Entry) {
        entries.append(entry)
        places[entry.key] = entries.count - 1
        settle(entries.count - 1)
    }

    /// - Returns: Whether it was in.
    @discardableResult
    mutating func remove(_ key: Key) -> Bool {
        guard let place = places.removeValue(forKey: key) else { return false }
        let last = entries.removeLast()
        if place < entries.count {
            entries[place] = last
            places[last.key] = place
            settle(place)
        }
        return true
    }

    /// Moves the entry of a place up or down to where it belongs.
    private mutating func settle(_ start: Int) {
        var place = start
        while place > 0, entries[place].precedes(entries[(place - 1) / 2]) {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
        while let child = firstChild(of: place), entries[child].precedes(entries[place]) {
            swap(place, child)
            place = child
        }
    }

    private func firstChild(of place: Int) -> Int? {
        let left = 2 * place + 1
        guard left < entries.count else { return nil }
        let right = left + 1
        return right < entries.count && entries[right].precedes(entries[left]) ? right : left
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        entries.swapAt(one, other)
        places[entries[one].key] = one
        places[entries[other].key] = other
    }
}
