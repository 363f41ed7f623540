import MartletHTTP
import Synchronization

/// The pools for one origin with equal settings: one pool on each of the loops that share the origin. Thread-safe.
///
/// A batch is assigned to the pool with the fewest unfinished items per connection (Docs/Decisions/0004).
final class PoolGroup: Sendable {
    /// Identifies a group. Requests with equal keys share connections.
    struct Key: Hashable, Sendable {
        let origin: HTTPOrigin
        let settings: TransportSettings
        let unixPath: String?

        init(_ origin: HTTPOrigin, _ settings: TransportSettings, unixPath: String? = nil) {
            self.origin = origin
            self.settings = settings
            self.unixPath = unixPath
        }

        /// Hashes what tells most groups apart. Hashing the certificates too would take longer than sending a request.
        func hash(into hasher: inout Hasher) {
            hasher.combine(origin)
            hasher.combine(settings.partition)
            hasher.combine(unixPath)
        }
    }

    /// The number of groups at which idle groups are removed before another group is added.
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

    /// Returns the index of the loop that a pool belongs to.
    func loop(of index: Int) -> Int { (first + index) % loopCount }

    /// Returns a pool's share of the origin's connection limit.
    func connectionLimit(of index: Int) -> Int {
        let total = max(1, key.settings.connectionLimit)
        return total / loads.count + (index < total % loads.count ? 1 : 0)
    }

    /// Returns the index of the pool for the next batch. Pools with equal load are chosen in turn.
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

    /// True if the group can be removed. Removing it loses only its position in the round-robin order.
    var isIdle: Bool { loads.allSatisfy(\.isIdle) }
}

extension PoolGroup: Hashable {
    static func == (one: PoolGroup, other: PoolGroup) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The load of one pool. The pool's loop updates the number of connections. The sender of a batch updates the number of
/// unfinished batch requests (items).
final class PoolLoad: Sendable {
    private let items = Atomic<Int>(0)
    private let connections = Atomic<Int>(0)

    /// The number of batch requests without a result, per connection that accepts requests.
    var perConnection: Int {
        items.load(ordering: .relaxed) / max(1, connections.load(ordering: .relaxed))
    }

    var isIdle: Bool { items.load(ordering: .relaxed) == 0 && connections.load(ordering: .relaxed) == 0 }

    /// Adds `count` batch requests that are about to be sent.
    func add(_ count: Int) {
        items.wrappingAdd(count, ordering: .relaxed)
    }

    /// Removes `count` batch requests whose results have been reported.
    func remove(_ count: Int) {
        items.wrappingSubtract(count, ordering: .relaxed)
    }

    /// Records the number of connections.
    /// - Parameter count: The number of connections that currently accept requests.
    func record(connections count: Int) {
        connections.store(count, ordering: .relaxed)
    }
}
