/// The members in one block of member numbers that a delivery has reached, in the shortest of three forms. These
/// bitmaps replace the progress map after the delivery has ended. In a storage that several processes share, they are
/// stored while the delivery runs too (`ReachedStore`). Blocks without reached members are not stored.
public struct DeliveredBitmap: Hashable, Sendable {
    /// The number of member numbers in a block.
    public static let size: Int64 = 65_536
    /// The number of 64-bit words of a block that is stored in the form of words.
    public static let wordCount = Int(size) / 64

    /// Returns the index of the block that contains a member number.
    public static func index(of number: Int64) -> Int64 { number / size }

    public let index: Int64
    /// The stored form: one byte that states the form (`Form`), then the content. In the form `words`, the content is
    /// one bit for each number of the block, in 64-bit words. In the form `numbers`, it is the numbers of the members,
    /// counted from the start of the block, in two bytes each. In the form `runs`, it is the first and the last number
    /// of each run, in two bytes each. Everything is little-endian.
    public let bytes: [UInt8]

    private enum Form: UInt8 {
        case words, numbers, runs
    }

    public init(index: Int64, bytes: [UInt8]) {
        self.index = index
        self.bytes = bytes
    }

    /// Creates the bitmap of a block.
    /// - Parameter words: One bit for each number of the block, with the lowest bit of each word first.
    /// - Returns: nil if no member was reached.
    public init?(index: Int64, words: [UInt64]) {
        precondition(words.count == Self.wordCount, "a block has \(Self.wordCount) words")
        let count = words.reduce(0) { $0 + $1.nonzeroBitCount }
        guard count > 0 else { return nil }
        let runCount = Self.runCount(words)
        let bytes: [UInt8]
        if count * 2 <= min(runCount * 4, Self.wordCount * 8) {
            bytes = Self.bytes(.numbers, Self.numbers(words))
        } else if runCount * 4 <= Self.wordCount * 8 {
            bytes = Self.bytes(.runs, Self.runs(words))
        } else {
            bytes = Self.bytes(
                .words, words.flatMap { word in (0..<4).map { UInt16(truncatingIfNeeded: word >> ($0 * 16)) } })
        }
        self.init(index: index, bytes: bytes)
    }

    /// Returns the number of runs. A run begins at each bit that is set while the next lower bit is not.
    private static func runCount(_ words: [UInt64]) -> Int {
        var carry: UInt64 = 0
        var count = 0
        for word in words {
            count += (word & ~(word << 1 | carry)).nonzeroBitCount
            carry = word >> 63
        }
        return count
    }

    private static func numbers(_ words: [UInt64]) -> [UInt16] {
        var numbers: [UInt16] = []
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                numbers.append(UInt16(index * 64 + rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
        return numbers
    }

    /// Returns the first and the last number of each run. A bit that differs from the next lower bit is the first bit
    /// of a run, or the first bit after a run.
    private static func runs(_ words: [UInt64]) -> [UInt16] {
        var runs: [UInt16] = []
        var carry: UInt64 = 0
        for (index, word) in words.enumerated() {
            var changes = word ^ (word << 1 | carry)
            while changes != 0 {
                let number = index * 64 + changes.trailingZeroBitCount
                runs.append(UInt16(runs.count.isMultiple(of: 2) ? number : number - 1))
                changes &= changes - 1
            }
            carry = word >> 63
        }
        if !runs.count.isMultiple(of: 2) { runs.append(.max) }
        return runs
    }

    private static func bytes(_ form: Form, _ values: [UInt16]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1 + values.count * 2)
        bytes.append(form.rawValue)
        for value in values {
            bytes.append(UInt8(truncatingIfNeeded: value))
            bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        }
        return bytes
    }

    /// Returns bitmaps of the given numbers, one for each block that contains at least one of the numbers. The numbers
    /// may be in any order, and must not be negative.
    public static func blocks(of numbers: some Sequence<Int64>) -> [DeliveredBitmap] {
        let numbers = Array(numbers)
        return numbers.count <= fewCount ? blocks(ofFew: numbers) : blocks(ofMany: numbers)
    }

    /// The largest number of members for which `blocks(ofFew:)` is used. With so few members, a block that is stored as
    /// bits is always longer than one that is stored as numbers or as runs.
    private static let fewCount = 64

    /// Returns the blocks of a few numbers. The words of each block are not built, because building them would be most
    /// of the work of a send to one user's devices.
    private static func blocks(ofFew numbers: [Int64]) -> [DeliveredBitmap] {
        var rest = Set(numbers).sorted()[...]
        var blocks: [DeliveredBitmap] = []
        while let first = rest.first {
            let index = index(of: first)
            let own = rest.prefix { self.index(of: $0) == index }
            rest = rest.dropFirst(own.count)
            let offsets = own.map { UInt16($0 % size) }
            let starts = offsets.indices.filter { $0 == 0 || offsets[$0 - 1] + 1 != offsets[$0] }
            if offsets.count * 2 <= starts.count * 4 {
                blocks.append(DeliveredBitmap(index: index, bytes: bytes(.numbers, offsets)))
            } else {
                let ends = starts.dropFirst().map { $0 - 1 } + [offsets.count - 1]
                let runs = zip(starts, ends).flatMap { [offsets[$0], offsets[$1]] }
                blocks.append(DeliveredBitmap(index: index, bytes: bytes(.runs, runs)))
            }
        }
        return blocks
    }

    private static func blocks(ofMany numbers: [Int64]) -> [DeliveredBitmap] {
        var blocks: [Int64: [UInt64]] = [:]
        for number in numbers {
            let offset = Int(number % size)
            blocks[index(of: number), default: Array(repeating: 0, count: wordCount)][offset / 64] |= 1 << (offset % 64)
        }
        return blocks.sorted { $0.key < $1.key }.compactMap { DeliveredBitmap(index: $0.key, words: $0.value) }
    }

    /// Returns whether the block contains a number.
    public func contains(_ number: Int64) -> Bool {
        guard let form = bytes.first.flatMap(Form.init), Self.index(of: number) == index else { return false }
        let offset = UInt16(truncatingIfNeeded: number)
        let count = (bytes.count - 1) / 2
        switch form {
        case .words: return Int(offset) / 16 < count && value(Int(offset) / 16) >> (offset % 16) & 1 == 1
        case .numbers: return (0..<count).contains { value($0) == offset }
        case .runs:
            return stride(from: 0, to: count - 1, by: 2).contains { value($0) <= offset && offset <= value($0 + 1) }
        }
    }

    /// The numbers in the block, in ascending order.
    public var numbers: [Int64] {
        guard let form = bytes.first.flatMap(Form.init) else { return [] }
        let (first, count) = (index * Self.size, (bytes.count - 1) / 2)
        switch form {
        case .words:
            return (0..<count).flatMap { place in
                (0..<16).filter { value(place) >> UInt16($0) & 1 == 1 }.map { first + Int64(place * 16 + $0) }
            }
        case .numbers: return (0..<count).map { first + Int64(value($0)) }
        case .runs:
            return stride(from: 0, to: count - 1, by: 2).flatMap { place in
                (Int64(value(place))...max(Int64(value(place)), Int64(value(place + 1)))).map { first + $0 }
            }
        }
    }

    /// The same block in its shortest form; equal blocks then have equal bytes.
    public var shortest: DeliveredBitmap { Self.blocks(of: numbers).first ?? self }

    private func value(_ index: Int) -> UInt16 {
        UInt16(bytes[1 + index * 2]) | UInt16(bytes[2 + index * 2]) << 8
    }
}
