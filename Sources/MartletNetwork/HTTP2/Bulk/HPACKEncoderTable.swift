/// The encoder's dynamic table (RFC 7541, section 2.3.2). It mirrors the table in the peer's decoder.
struct HPACKEncoderTable {
    struct Entry: Equatable {
        let name: String
        let value: String

        /// The size of the entry in the table (RFC 7541, section 4.1).
        var size: Int { name.utf8.count + value.utf8.count + 32 }
    }

    /// The maximum size of the table in bytes, whatever the peer allows.
    static let ceiling = 4096

    /// The entries, oldest first.
    private var entries: [Entry] = []
    private var size = 0
    private(set) var capacity = 4096
    /// The smallest capacity that the table has had since the last header block; nil if no change of the capacity has
    /// to be sent to the peer.
    private var smallest: Int?
    /// The version of the table.
    ///
    /// It increases with every change, so that stored indices can be recognised as stale.
    private(set) var version = 0

    /// Applies the value of HEADER_TABLE_SIZE in the peer's SETTINGS.
    mutating func allow(_ size: UInt32) {
        let wanted = min(Int(size), Self.ceiling)
        guard wanted != capacity else { return }
        capacity = wanted
        smallest = min(smallest ?? wanted, wanted)
        evict()
        version += 1
    }

    /// Writes pending size updates, which must precede all fields of a header block (RFC 7541, section 4.2).
    mutating func writeSizeUpdate(into block: inout [UInt8]) {
        guard let smallest else { return }
        if smallest < capacity { HPACKWriter.tableSize(smallest, into: &block) }
        HPACKWriter.tableSize(capacity, into: &block)
        self.smallest = nil
    }

    /// Returns the HPACK index of an entry, as used in a header block; nil if the entry is not in the table.
    func index(of entry: Entry) -> Int? {
        guard let index = entries.lastIndex(of: entry) else { return nil }
        return HPACKWriter.Static.count + entries.count - index
    }

    /// Adds an entry. Must be called for each field that is written as a literal with incremental indexing.
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
