import MartletModel

/// A leaky bucket of failures per key: each failure fills it by one drop, and drops leave at a steady pace.
///
/// A bucket is one point in time, that at which it will be empty. Empty buckets are forgotten, and there are never more than
/// a limit: beyond it the emptiest goes.
struct FailureBuckets<Key: Hashable & Sendable>: Sendable {
    private var emptyAt: [Key: Timestamp] = [:]
    private let countLimit: Int

    init(countLimit: Int) {
        self.countLimit = countLimit
    }

    var count: Int { emptyAt.count }

    /// How long a bucket of this size must still leak before it takes another drop; zero where it does now.
    func wait(_ key: Key, _ size: BucketSize, at now: Timestamp) -> Duration {
        guard let empty = emptyAt[key] else { return .zero }
        return max(.zero, (empty - now) - size.interval * (size.drops - 1))
    }

    mutating func fill(_ key: Key, _ size: BucketSize, at now: Timestamp) {
        makeRoom(for: key, at: now)
        emptyAt[key] = max(emptyAt[key] ?? now, now) + size.interval
    }

    /// Takes one drop back out.
    mutating func drain(_ key: Key, _ size: BucketSize, at now: Timestamp) {
        guard let empty = emptyAt[key] else { return }
        let earlier = Timestamp(milliseconds: empty.milliseconds - size.interval.wholeMilliseconds)
        emptyAt[key] = earlier > now ? earlier : nil
    }

    mutating func forget(_ key: Key) {
        emptyAt[key] = nil
    }

    /// A sweep costs as much as there are keys, so it drops a tenth of them at once where none is empty.
    private mutating func makeRoom(for key: Key, at now: Timestamp) {
        guard emptyAt[key] == nil, emptyAt.count >= countLimit else { return }
        emptyAt = emptyAt.filter { $0.value > now }
        guard emptyAt.count >= countLimit else { return }
        let kept = countLimit - max(1, countLimit / 10)
        for (key, _) in emptyAt.sorted(by: { $0.value < $1.value }).prefix(emptyAt.count - kept) { emptyAt[key] = nil }
    }
}

/// How many drops a bucket holds and how long one takes to leak.
struct BucketSize: Hashable, Sendable {
    var drops: Int
    var interval: Duration
}
