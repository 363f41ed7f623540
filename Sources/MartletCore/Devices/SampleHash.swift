/// Decides which members of an audience are in a sample. A member is in the sample if its hash is not above a
/// threshold.
///
/// The hash depends only on the notification and the member's number, not on the age, the platform or the tags of a
/// device. Therefore a sample has about the same share of devices of every age, platform and tag. The sample is the
/// same in every page and after every restart.
public struct SampleHash: Sendable {
    /// The state of the hash after the id of the notification and `domain` were added.
    private let start: SipHash

    init(_ start: SipHash) {
        var start = start
        start.combine(Self.domain)
        self.start = start
    }

    /// A constant that makes these hashes differ from message ids. Without it, both would be computed from the same key
    /// and input, and push services see the message ids.
    private static let domain: UInt64 = 0x656C_706D_6173

    /// Returns the hash of a member.
    /// - Parameter number: The number of the member (`AudienceMember.number`).
    public func callAsFunction(_ number: Int64) -> UInt64 {
        var hash = start
        hash.combine(UInt64(bitPattern: number))
        return hash.finalize().0
    }

    /// Returns the highest hash that puts a member in the sample, for a sample of a given share of the audience.
    /// - Parameter share: The share, in hundredths of a percent.
    public static func threshold(ofShare share: Int) -> UInt64 { UInt64.max / 10_000 * UInt64(share) }
}

/// The two sides of a canary: the sample and the rest.
public enum SampleSide: Int64, Hashable, Sendable {
    /// The devices that get the notification first.
    case sample = 0
    /// All devices of the audience that are not in the sample.
    case rest = 1
}

/// Selects the members of one side of a canary.
public struct AudienceSample: Sendable {
    public var hash: SampleHash
    /// The highest hash that a member of the sample can have.
    public var threshold: UInt64
    public var side: SampleSide

    public init(hash: SampleHash, threshold: UInt64, side: SampleSide) {
        self.hash = hash
        self.threshold = threshold
        self.side = side
    }

    /// Returns whether a member is on this side.
    /// - Parameter number: The number of the member (`AudienceMember.number`).
    public func contains(_ number: Int64) -> Bool {
        (hash(number) <= threshold) == (side == .sample)
    }

    /// The maximum number of members that are examined for one page. Examining so many takes a few milliseconds. If few
    /// of these members are on the selected side, the page ends before it is full.
    public static let scanLimit = 100_000
}

/// The lowest of many hashes, found in one pass. The highest of the kept hashes is the threshold of a sample with
/// exactly `limit` members.
public struct LowestHashes: Hashable, Sendable {
    /// The number of hashes that are kept.
    public let limit: Int
    /// The number of hashes that were added so far.
    public private(set) var seen = 0
    /// The kept hashes as a max-heap: no hash is lower than its children. The children of the hash at index i have the
    /// indices 2i + 1 and 2i + 2.
    private var heap: [UInt64] = []

    public init(limit: Int) {
        self.limit = limit
    }

    public mutating func insert(_ hash: UInt64) {
        seen += 1
        guard heap.count == limit else {
            heap.append(hash)
            return rise(from: heap.count - 1)
        }
        guard let highest = heap.first, hash < highest else { return }
        heap[0] = hash
        sink()
    }

    /// The threshold of the sample. If no more than `limit` hashes were added, the sample is the whole audience, and
    /// the threshold is the highest possible hash.
    public var threshold: UInt64 { seen <= limit ? .max : heap.first ?? .max }

    private mutating func rise(from start: Int) {
        var index = start
        while index > 0, heap[(index - 1) / 2] < heap[index] {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink() {
        var index = 0
        while true {
            let left = index * 2 + 1
            guard left < heap.count else { return }
            let child = left + 1 < heap.count && heap[left + 1] > heap[left] ? left + 1 : left
            guard heap[child] > heap[index] else { return }
            heap.swapAt(index, child)
            index = child
        }
    }
}
