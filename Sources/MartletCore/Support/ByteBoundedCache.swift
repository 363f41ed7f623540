/// A cache with a limit on the total bytes of its values. If the limit is exceeded, the least recently used values are
/// removed.
///
/// The cache does no I/O. Every operation except `removeAll` takes amortized constant time, and a look-up does not
/// allocate.
public struct ByteBoundedCache<Key: Hashable, Value> {
    /// An entry, with the indices of its neighbours in the order of use; -1 if there is no neighbour.
    fileprivate struct Slot {
        var content: (key: Key, value: Value)?
        var bytes = 0
        var older = -1
        /// The index of the next newer entry; in a free slot, the index of the next free slot.
        var newer = -1
    }

    /// The bytes that `insert` counts for an entry in addition to its parameter `bytes`: the entry's slot, and its
    /// share of the hash table, including the table's free space.
    public static var entryBytes: Int { MemoryLayout<Slot>.stride + 2 * (MemoryLayout<Key>.stride + 16) }

    public let byteLimit: Int
    /// The total bytes of all entries, including `entryBytes` for each entry.
    public private(set) var bytes = 0
    private var slots: [Slot] = []
    private var indices: [Key: Int] = [:]
    private var newest = -1
    private var oldest = -1
    private var firstFree = -1

    private static var none: Int { -1 }

    public init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    public var count: Int { indices.count }

    public func contains(_ key: Key) -> Bool { indices[key] != nil }

    /// Returns the value of a key, and makes it the most recently used; nil if the cache does not contain the key.
    public mutating func value(for key: Key) -> Value? {
        guard let index = indices[key] else { return nil }
        if index != newest {
            unlink(index)
            linkAsNewest(index)
        }
        return slots[index].content?.value
    }

    /// Stores a value in place of any earlier value of the same key. A value that exceeds the limit by itself is not
    /// stored; the earlier value is removed nevertheless.
    /// - Parameter bytes: The heap memory of key and value in bytes, such as the characters of a long string.
    public mutating func insert(_ value: Value, for key: Key, bytes: Int) {
        removeValue(for: key)
        let cost = bytes + Self.entryBytes
        guard cost <= byteLimit else { return }
        // As long as there is no room, the cache is not empty, so `oldest` is a valid index.
        while self.bytes + cost > byteLimit, let old = slots[oldest].content?.key { removeValue(for: old) }
        let index = freeIndex()
        slots[index].content = (key, value)
        slots[index].bytes = cost
        indices[key] = index
        self.bytes += cost
        linkAsNewest(index)
    }

    public mutating func removeValue(for key: Key) {
        guard let index = indices.removeValue(forKey: key) else { return }
        unlink(index)
        bytes -= slots[index].bytes
        slots[index] = Slot(newer: firstFree)
        firstFree = index
    }

    public mutating func removeAll(where isUnwanted: (Key, Value) -> Bool) {
        for content in slots.compactMap(\.content) where isUnwanted(content.key, content.value) {
            removeValue(for: content.key)
        }
    }

    private mutating func freeIndex() -> Int {
        guard firstFree != Self.none else {
            slots.append(Slot())
            return slots.count - 1
        }
        defer { firstFree = slots[firstFree].newer }
        return firstFree
    }

    private mutating func linkAsNewest(_ index: Int) {
        slots[index].older = newest
        slots[index].newer = Self.none
        if newest != Self.none { slots[newest].newer = index } else { oldest = index }
        newest = index
    }

    private mutating func unlink(_ index: Int) {
        let (older, newer) = (slots[index].older, slots[index].newer)
        if older != Self.none { slots[older].newer = newer } else { oldest = newer }
        if newer != Self.none { slots[newer].older = older } else { newest = older }
    }
}

extension ByteBoundedCache: Sendable where Key: Sendable, Value: Sendable {}
extension ByteBoundedCache.Slot: Sendable where Key: Sendable, Value: Sendable {}
