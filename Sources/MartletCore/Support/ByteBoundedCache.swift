/// Values by their keys, which never take more bytes together than a limit: beyond it the least recently used go.
///
/// Pure bookkeeping. Every operation takes constant time, and looking up allocates nothing.
public struct ByteBoundedCache<Key: Hashable, Value> {
    /// An entry with its neighbours in the order of use, by their indices; -1: none.
    fileprivate struct Slot {
        var content: (key: Key, value: Value)?
        var bytes = 0
        var older = -1
        /// Of a free slot, the next free one.
        var newer = -1
    }

    /// What an entry takes besides what its owner counts: its slot, and its index in the table of keys with what such
    /// a table keeps free.
    public static var entryBytes: Int { MemoryLayout<Slot>.stride + 2 * (MemoryLayout<Key>.stride + 16) }

    public let byteLimit: Int
    /// What the entries take, `entryBytes` of each included.
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

    /// The value of a key, which is then the one used last.
    public mutating func value(for key: Key) -> Value? {
        guard let index = indices[key] else { return nil }
        if index != newest {
            unlink(index)
            linkAsNewest(index)
        }
        return slots[index].content?.value
    }

    /// Keeps a value instead of an earlier one of its key. One that alone is beyond the limit is not kept.
    /// - Parameter bytes: What key and value take outside of themselves.
    public mutating func insert(_ value: Value, for key: Key, bytes: Int) {
        removeValue(for: key)
        let cost = bytes + Self.entryBytes
        guard cost <= byteLimit else { return }
        // Something is kept as long as there is no room, so there is an oldest.
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
