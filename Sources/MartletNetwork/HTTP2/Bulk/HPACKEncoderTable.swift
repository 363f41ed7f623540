/// The dynamic table of our encoder (RFC 7541, section 2.3.2) as the peer's decoder has it.
struct HPACKEncoderTable {
    struct Entry: Equatable {
        let name: String
        let value: String

        /// Section 4.1.
        var size: Int { name.utf8.count + value.utf8.count + 32 }
    }

    /// The largest table that is worth having, whatever the peer allows.
    static let ceiling = 4096

    /// Oldest first.
    private var entries: [Entry] = []
    private var size = 0
    private(set) var capacity = 4096
    /// The smallest size since the last header block, and whether the peer is still to be told of a change.
    private var smallest: Int?
    /// Rises with every change, so that indices that were written down are known to be stale.
    private(set) var version = 0

    /// The peer's SETTINGS allow a table of a size.
    mutating func allow(_ size: UInt32) {
        let wanted = min(Int(size), Self.ceiling)
        guard wanted != capacity else { return }
        capacity = wanted
        smallest = min(smallest ?? wanted, wanted)
        evict()
        version += 1
    }

    /// Says the sizes that the peer does not know yet, as the beginning of a block must (section 4.2).
    mutating func writeSizeUpdate(into block: inout [UInt8]) {
        guard let smallest else { return }
        if smallest < capacity { HPACKWriter.tableSize(smallest, into: &block) }
        HPACKWriter.tableSize(capacity, into: &block)
        self.smallest = nil
    }

    /// The index of an entry, counted as in a header block.
    func index(of entry: Entry) -> Int? {
        guard let index = entries.lastIndex(of: entry) else { return nil }
        return HPACKWriter.Static.count + entries.count - index
    }

    /// Adds an entry; called for each field that was written as a literal to be inserted.
    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        size += entry.size
        evict()
        version += 1
    }

    private mutating func evict() {
        var gone = 0
        while size > capacity {
            size -= entries[gone].size
            gone += 1
        }
        entries.removeFirst(gone)
    }
}
