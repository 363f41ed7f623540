/// Encodes the registrations of a block as the bytes of a `Pack`.
enum PackEncoder {
    /// Encodes a pack.
    /// - Parameters:
    ///   - entries: The registrations, in the order of their channels and sequence numbers.
    ///   - block: The number of the block.
    /// - Returns: nil if the registrations are too many or too large for a pack.
    static func bytes(of entries: [Pack.Entry], block: Int64) -> [UInt8]? {
        let handleSize = entries.reduce(0) { $0 + $1.handle.count }
        guard entries.count <= Pack.countLimit, handleSize <= Pack.sizeLimit else { return nil }
        let (tags, sets) = sets(of: entries)
        let flags = flags(of: entries)
        var bytes: [UInt8] = [Pack.version, flags.rawValue, 0, 0]
        for number in [entries.count, tags.count, handleSize, sets.reduce(0) { $0 + $1.count }] {
            bytes.append(bigEndian: UInt32(number))
        }
        let first = block * PackBlock.size
        for entry in entries { bytes.append(bigEndian: UInt16(entry.channel - first)) }
        for entry in entries { bytes.append(bigEndian: entry.sequence) }
        if flags.contains(.templates) { for entry in entries { bytes.append(bigEndian: entry.template) } }
        if flags.contains(.variables) { for entry in entries { bytes.append(bigEndian: entry.variables) } }
        if flags.contains(.expiries) { for entry in entries { bytes.append(bigEndian: entry.expiresAt) } }
        appendEnds(of: entries.map(\.handle.count), to: &bytes)
        for tag in tags { bytes.append(bigEndian: tag) }
        appendEnds(of: sets.map(\.count), to: &bytes)
        for entry in entries { bytes += entry.handle }
        for set in sets { bytes += set }
        return bytes.count <= Pack.sizeLimit ? bytes : nil
    }

    private static func flags(of entries: [Pack.Entry]) -> Pack.Flags {
        var flags: Pack.Flags = []
        if entries.contains(where: { $0.template != 0 }) { flags.insert(.templates) }
        if entries.contains(where: { $0.variables != 0 }) { flags.insert(.variables) }
        if entries.contains(where: { $0.expiresAt != .max }) { flags.insert(.expiries) }
        return flags
    }

    private static func appendEnds(of sizes: [Int], to bytes: inout [UInt8]) {
        var end = 0
        for size in sizes {
            end += size
            bytes.append(bigEndian: UInt32(end))
        }
    }

    /// The tags of the registrations in ascending order, and for each the registrations that have it.
    private static func sets(of entries: [Pack.Entry]) -> (tags: [Int64], sets: [[UInt8]]) {
        var members: [Int64: [UInt16]] = [:]
        for (index, entry) in entries.enumerated() {
            for tag in Set(entry.tags) { members[tag, default: []].append(UInt16(index)) }
        }
        let sorted = members.sorted { $0.key < $1.key }
        return (sorted.map(\.key), sorted.map { set($0.value, of: entries.count) })
    }

    private static func set(_ indices: [UInt16], of count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        guard 2 * indices.count >= Pack.bitmapSize(count) else {
            for index in indices { bytes.append(bigEndian: index) }
            return bytes
        }
        var words = [UInt64](repeating: 0, count: Pack.bitmapSize(count) / 8)
        for index in indices { words[Int(index) / 64] |= 1 << UInt64(index % 64) }
        for word in words { bytes.append(bigEndian: word) }
        return bytes
    }
}
