import MartletModel

/// The registrations of a block, in the order of their channels and sequence numbers, with the registrations of each
/// tag as a set. It is decoded from the bytes that `PackEncoder` makes; all positions are checked once, when the pack is
/// decoded.
///
/// The bytes are a header, columns of fixed width, and then the handles and the sets. The header has the version (1
/// byte), flags (1), two zeros, and in 4 bytes each the number of registrations, the number of tags, the size of the
/// handles and the size of the sets. The columns are for each registration the offset of its channel in the block (2
/// bytes), its sequence number (8), its template (8, with a flag), its push variables (8, with a flag), its expiry (8,
/// with a flag), and the end of its handle (4); then for each tag its number (8) and the end of its set (4). A set is
/// a bitmap of all registrations or, if that is shorter, a list of indices (2 bytes each). Numbers are big-endian.
struct Pack: Sendable {
    /// A registration, with 0 for no template and for no push variables.
    struct Entry: Equatable, Sendable {
        var channel: Int64
        var sequence: Int64
        /// The handle in its stored form.
        var handle: [UInt8]
        var tags: [Int64]
        var template: Int64 = 0
        var variables: Int64 = 0
        /// When the registration expires, in milliseconds; the highest number for never.
        var expiresAt = Int64.max
    }

    /// The number of registrations.
    let count: Int
    private let first: Int64
    private let bytes: [UInt8]
    private let places: Places
    private let flags: Flags

    static let version: UInt8 = 1
    static let headerSize = 20
    /// An index of a registration has two bytes.
    static let countLimit = 65_536
    /// Longer packs are neither made nor read.
    static let sizeLimit = 8 << 20

    struct Flags: OptionSet {
        let rawValue: UInt8

        static let templates = Flags(rawValue: 1)
        static let variables = Flags(rawValue: 2)
        static let expiries = Flags(rawValue: 4)
        static let all: Flags = [.templates, .variables, .expiries]
    }

    /// Where the columns begin.
    private struct Places {
        let channels = Pack.headerSize
        let sequences: Int
        let templates: Int
        let variables: Int
        let expiries: Int
        let handleEnds: Int
        let tags: Int
        let setEnds: Int
        let handles: Int
        let sets: Int
        let end: Int

        init(_ count: Int, _ tagCount: Int, _ handleSize: Int, _ setSize: Int, _ flags: Flags) {
            sequences = channels + 2 * count
            templates = sequences + 8 * count
            variables = templates + (flags.contains(.templates) ? 8 * count : 0)
            expiries = variables + (flags.contains(.variables) ? 8 * count : 0)
            handleEnds = expiries + (flags.contains(.expiries) ? 8 * count : 0)
            tags = handleEnds + 4 * count
            setEnds = tags + 8 * tagCount
            handles = setEnds + 4 * tagCount
            sets = handles + handleSize
            end = sets + setSize
        }

        var tagCount: Int { (setEnds - tags) / 8 }
    }

    /// Decodes a pack.
    /// - Parameter block: The number of the block.
    /// - Returns: nil if the bytes are no pack of this version.
    init?(_ bytes: [UInt8], block: Int64) {
        guard bytes.count >= Self.headerSize, bytes.count <= Self.sizeLimit, bytes[0] == Self.version,
            bytes[2] == 0, bytes[3] == 0
        else { return nil }
        let flags = Flags(rawValue: bytes[1])
        let header = bytes.withUnsafeBytes { raw in
            (0..<4).map { Int(raw.bigEndian(at: 4 + 4 * $0) as UInt32) }
        }
        guard flags.isSubset(of: .all), header[0] <= Self.countLimit, header.allSatisfy({ $0 <= bytes.count }) else {
            return nil
        }
        let places = Places(header[0], header[1], header[2], header[3], flags)
        guard places.end == bytes.count else { return nil }
        (self.bytes, self.places, self.flags, count) = (bytes, places, flags, header[0])
        first = block * PackBlock.size
        guard bytes.withUnsafeBytes({ hasOrder($0) && hasSets($0) }) else { return nil }
    }

    /// Whether the registrations are in order, and their handles lie one after another.
    private func hasOrder(_ raw: UnsafeRawBufferPointer) -> Bool {
        var last: (channel: UInt16, sequence: Int64, handleEnd: UInt32) = (0, .min, 0)
        for index in 0..<count {
            let channel: UInt16 = raw.bigEndian(at: places.channels + 2 * index)
            let sequence: Int64 = raw.bigEndian(at: places.sequences + 8 * index)
            let handleEnd: UInt32 = raw.bigEndian(at: places.handleEnds + 4 * index)
            guard (channel, sequence) > (last.channel, last.sequence), handleEnd > last.handleEnd,
                channel < PackBlock.size
            else { return false }
            last = (channel, sequence, handleEnd)
        }
        return Int(last.handleEnd) == places.sets - places.handles
    }

    /// Whether the tags are in order, and each set has indices of registrations only.
    private func hasSets(_ raw: UnsafeRawBufferPointer) -> Bool {
        var last: (tag: Int64, end: Int) = (.min, 0)
        for index in 0..<places.tagCount {
            let tag: Int64 = raw.bigEndian(at: places.tags + 8 * index)
            let end = Int(raw.bigEndian(at: places.setEnds + 4 * index) as UInt32)
            guard tag > last.tag, end >= last.end, end <= places.end - places.sets else { return false }
            let size = end - last.end
            if size < Self.bitmapSize(count) {
                guard size % 2 == 0 else { return false }
                for place in stride(from: places.sets + last.end, to: places.sets + end, by: 2) {
                    guard Int(raw.bigEndian(at: place) as UInt16) < count else { return false }
                }
            } else {
                guard size == Self.bitmapSize(count) else { return false }
            }
            last = (tag, end)
        }
        return last.end == places.end - places.sets
    }

    /// The size in bytes of a set as a bitmap: whole words of eight bytes.
    static func bitmapSize(_ count: Int) -> Int { (count + 63) / 64 * 8 }

    /// The memory of the pack, in bytes.
    var size: Int { bytes.count }
}

// MARK: Reading

extension Pack {
    func channel(_ index: Int) -> Int64 { first + Int64(number(places.channels + 2 * index) as UInt16) }
    func sequence(_ index: Int) -> Int64 { number(places.sequences + 8 * index) }

    /// The template of a registration; 0 for none.
    func template(_ index: Int) -> Int64 {
        flags.contains(.templates) ? number(places.templates + 8 * index) : 0
    }

    /// The push variables of a registration; 0 for none.
    func variables(_ index: Int) -> Int64 {
        flags.contains(.variables) ? number(places.variables + 8 * index) : 0
    }

    func expiresAt(_ index: Int) -> Int64 {
        flags.contains(.expiries) ? number(places.expiries + 8 * index) : .max
    }

    /// The handle of a registration, in its stored form.
    func handle(_ index: Int) -> ArraySlice<UInt8> {
        let start = index == 0 ? 0 : Int(number(places.handleEnds + 4 * (index - 1)) as UInt32)
        let end = Int(number(places.handleEnds + 4 * index) as UInt32)
        return bytes[(places.handles + start)..<(places.handles + end)]
    }

    /// The index of the first registration after a channel and sequence number.
    func index(after channel: Int64, _ sequence: Int64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if (self.channel(middle), self.sequence(middle)) > (channel, sequence) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }

    /// The registrations that match a tag expression, as a bitmap: the lowest bit of the first word is the first
    /// registration.
    /// - Parameter numbers: The numbers of the tags of the expression. A tag without a number has no registrations.
    func members(matching expression: TagExpression?, _ numbers: [Tag: Int64]) -> [UInt64] {
        switch expression {
        case nil: return everybody
        case .tag(let tag): return numbers[tag].map { members(ofTag: $0) } ?? nobody
        case .not(let operand):
            return zip(everybody, members(matching: operand, numbers)).map { $0 & ~$1 }
        case .and(let operands):
            return operands.reduce(into: everybody) { set, operand in
                for (word, bits) in members(matching: operand, numbers).enumerated() { set[word] &= bits }
            }
        case .or(let operands):
            return operands.reduce(into: nobody) { set, operand in
                for (word, bits) in members(matching: operand, numbers).enumerated() { set[word] |= bits }
            }
        }
    }

    private var nobody: [UInt64] { [UInt64](repeating: 0, count: (count + 63) / 64) }

    private var everybody: [UInt64] {
        var set = [UInt64](repeating: .max, count: (count + 63) / 64)
        if count % 64 > 0 { set[set.count - 1] = 1 << UInt64(count % 64) - 1 }
        return set
    }

    private func members(ofTag tag: Int64) -> [UInt64] {
        var (low, high) = (0, places.tagCount)
        while low < high {
            let middle = (low + high) / 2
            if number(places.tags + 8 * middle) as Int64 >= tag { high = middle } else { low = middle + 1 }
        }
        var set = nobody
        guard low < places.tagCount, number(places.tags + 8 * low) as Int64 == tag else { return set }
        let start = low == 0 ? 0 : Int(number(places.setEnds + 4 * (low - 1)) as UInt32)
        let end = Int(number(places.setEnds + 4 * low) as UInt32)
        if end - start == Self.bitmapSize(count) {
            for word in set.indices { set[word] = number(places.sets + start + 8 * word) }
            return zip(everybody, set).map { $0 & $1 }
        }
        for place in stride(from: start, to: end, by: 2) {
            let index = Int(number(places.sets + place) as UInt16)
            set[index / 64] |= 1 << UInt64(index % 64)
        }
        return set
    }

    private func number<Value: FixedWidthInteger>(_ place: Int) -> Value {
        bytes.withUnsafeBytes { $0.bigEndian(at: place) }
    }
}
