import Synchronization

/// Counts, for each shard, the writes of which it is not known whether they are stored (`Transaction.unknown`), until
/// their transactions are over.
final class UnknownWrites: Sendable {
    private let counts = Mutex<[Shard: Int]>([:])

    /// Adds a write.
    /// - Returns: Whether it is the only one of its shard.
    func add(to shard: Shard) -> Bool {
        counts.withLock { counts in
            counts[shard, default: 0] += 1
            return counts[shard] == 1
        }
    }

    func count(in shard: Shard) -> Int { counts.withLock { $0[shard] ?? 0 } }

    /// Removes writes whose transactions are over.
    /// - Returns: Whether the shard has no other.
    func remove(_ count: Int, from shard: Shard) -> Bool {
        counts.withLock { counts in
            let left = (counts[shard] ?? 0) - count
            counts[shard] = left > 0 ? left : nil
            return left <= 0
        }
    }
}
