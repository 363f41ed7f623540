import MartletHTTP
import Synchronization

/// The pools for one origin with equal settings, one on each of the loops that share the origin. Safe to use from any
/// thread.
///
/// A batch goes to the pool with the fewest items in progress per connection (Docs/Decisions/0004).
final class PoolGroup: Sendable {
    /// Requests with equal keys share connections.
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

    /// The number of groups above which idle groups are removed.
    static let limit = 256

    let key: Key
    /// The load of each pool. There may be fewer pools than loops.
    let loads: [PoolLoad]
    /// The index of the loop that has the first pool.
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

    /// The index of the loop of a pool.
    func loop(of index: Int) -> Int { (first + index) % loopCount }

    /// A pool's share of the connection limit of the origin.
    func connectionLimit(of index: Int) -> Int {
        let total = max(1, key.settings.connectionLimit)
        return total / loads.count + (index < total % loads.count ? 1 : 0)
    }

    /// Returns the index of the pool for the next batch. Pools with equal load take turns.
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

    /// True if the group can be removed; only the position in the round-robin order is lost.
    var isIdle: Bool { loads.allSatisfy(\.isIdle) }
}

extension PoolGroup: Hashable {
    static func == (one: PoolGroup, other: PoolGroup) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The load of one pool. The pool's loop counts the connections, the sender of a batch counts the items.
final class PoolLoad: Sendable {
    private let items = Atomic<Int>(0)
    private let connections = Atomic<Int>(0)

    /// The number of items without a result, per connection that takes requests.
    var perConnection: Int {
        items.load(ordering: .relaxed) / max(1, connections.load(ordering: .relaxed))
    }

    var isIdle: Bool { items.load(ordering: .relaxed) == 0 && connections.load(ordering: .relaxed) == 0 }

    /// Adds items that will be sent.
    func add(_ count: Int) {
        items.wrappingAdd(count, ordering: .relaxed)
    }

    /// Removes items whose results were reported.
    func remove(_ count: Int) {
        items.wrappingSubtract(count, ordering: .relaxed)
    }

    /// - Parameter count: The number of connections that take requests now.
    func record(connections count: Int) {
        connections.store(count, ordering: .relaxed)
    }
}
