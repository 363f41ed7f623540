import MartletCore
import MartletModel

/// A write of devices: the rows that it needs, the changes that it makes, and the closures that tell its caller the
/// result.
struct DeviceWrite: Sendable {
    var needs: DeviceNeeds
    /// Applies the write, and returns a closure that reports the success to the caller. The closure is called once the
    /// write is stored.
    var apply: @Sendable (inout DeviceSet) throws(StorageError) -> @Sendable () -> Void
    var fail: @Sendable (StorageError) -> Void
    /// The cache that gets the numbers of new tags once they are stored.
    var cache: NumberCache
}

/// The writes of devices of one hub that are done in one transaction.
struct DeviceGroup: ShardGroup {
    private let writes: [DeviceWrite]
    private let needs: DeviceNeeds
    private let reads: DeviceReads
    private var answers: [@Sendable () -> Void] = []
    private var newTags: [(key: TagKey, id: Int64)] = []

    static let lockOrder = LockOrder.beforeWrites

    init(_ writes: [DeviceWrite]) {
        self.writes = writes
        var needs = DeviceNeeds()
        for write in writes { needs.formUnion(write.needs) }
        self.needs = needs
        reads = DeviceReads(needs, known: writes.first?.cache)
    }

    func reading(in shard: Shard) -> Batch { reads.batch(in: shard) }

    mutating func decide(
        _ rows: [Rows], _ ordinals: inout Ordinals?, in session: ShardSession
    ) throws(StorageError) -> Batch {
        var set = DeviceSet(shard: session.shard, ordinals: ordinals)
        reads.fill(&set, from: rows)
        answers = []
        for write in writes { answers.append(try write.apply(&set)) }
        if ordinals != nil { ordinals = set.ordinals }
        newTags = (set.newTags.merging(set.tags) { new, _ in new }).map { ($0.key, $0.value) }
        return DeviceChanges(set).batch
    }

    func succeed() {
        writes.first?.cache.add(newTags)
        for answer in answers { answer() }
    }

    func fail(_ error: StorageError) {
        for write in writes { write.fail(error) }
    }
}
