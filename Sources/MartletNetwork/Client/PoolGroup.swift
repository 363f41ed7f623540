import MartletHTTP
import Synchronization

/// The pools for one origin with equal settings, one on each of the loops that share it, as every thread sees them.
///
/// A batch goes to the pool that has the least in progress for each of its connections (Docs/Decisions/0004).
final class PoolGroup: Sendable {
    /// What connections are shared by.
    struct Key: Hashable, Sendable {
        let origin: HTTPOrigin
        let settings: TransportSettings
        let unixPath: String?

        init(_ origin: HTTPOrigin, _ settings: TransportSettings, unixPath: String? = nil) {
            self.origin = origin
            self.settings = settings
            self.unixPath = unixPath
        }
    }

    /// How many are remembered before those that are idle are forgotten.
    static let limit = 256

    let key: Key
    /// Of the pools that share the origin, which may be fewer than there are loops.
    let loads: [PoolLoad]
    /// Which loop has the first of the pools.
    private let first: Int
    private let loopCount: Int
    private let turn = Atomic<Int>(0)

    init(_ key: Key, loopCount: Int) {
        self.key = key
        self.loopCount = loopCount
        var hasher = Hasher()
        hasher.combine(key.origin)
        hasher.combine(key.settings.partition)
        first = Int(UInt(bitPattern: hasher.finalize()) % UInt(loopCount))
        loads = (0..<min(loopCount, max(1, key.settings.connectionLimit))).map { _ in PoolLoad() }
    }

    /// On which loop a pool is.
    func loop(of index: Int) -> Int { (first + index) % loopCount }

    /// A pool's share of the connections to the origin.
    func connectionLimit(of index: Int) -> Int {
        let total = max(1, key.settings.connectionLimit)
        return total / loads.count + (index < total % loads.count ? 1 : 0)
    }

    /// The index of the pool that the next batch goes to. Of those that are equally free, each in turn.
    func nextIndex() -> Int {
        guard loads.count > 1 else { return 0 }
        let start = Int(UInt(bitPattern: turn.wrappingAdd(1, ordering: .relaxed).oldValue) % UInt(loads.count))
        var best = start
        for step in 1..<loads.count {
            let index = (start + step) % loads.count
            if loads[index].perConnection < loads[best].perConnection { best = index }
        }
        return best
    }

    /// Whether it may be forgotten: nothing is lost but who goes next.
    var isIdle: Bool { loads.allSatisfy(\.isIdle) }
}

extension PoolGroup: Hashable {
    static func == (one: PoolGroup, other: PoolGroup) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What one pool has in progress. The pool's loop counts its connections, the sender of a batch its items.
final class PoolLoad: Sendable {
    private let items = Atomic<Int>(0)
    private let connections = Atomic<Int>(0)

    /// How many items that were not told yet come to each connection that takes requests.
    var perConnection: Int {
        items.load(ordering: .relaxed) / max(1, connections.load(ordering: .relaxed))
    }

    var isIdle: Bool { items.load(ordering: .relaxed) == 0 && connections.load(ordering: .relaxed) == 0 }

    /// Counts items that are to be sent.
    func add(_ count: Int) {
        items.wrappingAdd(count, ordering: .relaxed)
    }

    /// Counts items that were told.
    func remove(_ count: Int) {
        items.wrappingSubtract(count, ordering: .relaxed)
    }

    /// - Parameter count: The connections that take requests now.
    func record(connections count: Int) {
        connections.store(count, ordering: .relaxed)
    }
}
