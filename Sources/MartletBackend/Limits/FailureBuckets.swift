import MartletModel

/// A leaky bucket of failures for each key: each failure adds a drop, and drops leak at a steady rate.
///
/// A bucket is stored as one timestamp: the time at which it will be empty. Empty buckets are removed. The number of
/// buckets is limited; if there are more, the emptiest are removed.
struct FailureBuckets<Key: Hashable & Sendable>: Sendable {
    private var emptyAt: [Key: Timestamp] = [:]
    private let countLimit: Int

    init(countLimit: Int) {
        self.countLimit = countLimit
    }

    var count: Int { emptyAt.count }

    /// Returns how long a bucket of this size must still leak until another drop fits; zero if one fits now.
    func wait(_ key: Key, _ size: BucketSize, at now: Timestamp) -> Duration {
        guard let empty = emptyAt[key] else { return .zero }
        return max(.zero, (empty - now) - size.interval * (size.drops - 1))
    }

    mutating func fill(_ key: Key, _ size: BucketSize, at now: Timestamp) {
        makeRoom(for: key, at: now)
        emptyAt[key] = max(emptyAt[key] ?? now, now) + size.interval
    }

    /// Removes one drop from a bucket.
    mutating func drain(_ key: Key, _ size: BucketSize, at now: Timestamp) {
        guard let empty = emptyAt[key] else { return }
        let earlier = Timestamp(milliseconds: empty.milliseconds - size.interval.wholeMilliseconds)
        emptyAt[key] = earlier > now ? earlier : nil
    }

    mutating func forget(_ key: Key) {
        emptyAt[key] = nil
    }

    /// Removes buckets if there are too many for a new key. Empty buckets are removed first. If none is empty, a tenth
    /// of all buckets is removed at once, because each search takes time proportional to the number of buckets.
    private mutating func makeRoom(for key: Key, at now: Timestamp) {
        guard emptyAt[key] == nil, emptyAt.count >= countLimit else { return }
        emptyAt = emptyAt.filter { $0.value > now }
        guard emptyAt.count >= countLimit else { return }
        let kept = countLimit - max(1, countLimit / 10)
        for (key, _) in emptyAt.sorted(by: { $0.value < $1.value }).prefix(emptyAt.count - kept) { emptyAt[key] = nil }
    }
}

/// The capacity of a bucket in drops, and the time that one drop takes to leak.
struct BucketSize: Hashable, Sendable {
    var drops: Int
    var interval: Duration
}
