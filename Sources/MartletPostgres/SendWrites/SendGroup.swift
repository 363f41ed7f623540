import MartletCore

/// A write of notifications, deliveries or what belongs to them: what it does, and who waits for it.
struct SendWrite: Sendable {
    /// Applies the write, and returns what tells its caller once it is stored. It may run twice.
    var apply: @Sendable (ShardSession) throws(StorageError) -> @Sendable () -> Void
    var fail: @Sendable (StorageError) -> Void
}

/// The writes of sends of one hub that are done in one transaction, one after another. Each sees those before it.
struct SendGroup: ShardGroup {
    private let writes: [SendWrite]
    private var answers: [@Sendable () -> Void] = []

    static let lockOrder = LockOrder.beforeReads

    init(_ writes: [SendWrite]) {
        self.writes = writes
    }

    func reading(in shard: Shard) -> Batch { Batch() }

    mutating func decide(
        _ rows: [Rows], _ numbers: inout SendOrdinals?, in session: ShardSession
    ) throws(StorageError) -> Batch {
        session.numbers = numbers
        answers = []
        for write in writes { answers.append(try write.apply(session)) }
        numbers = session.numbers
        return Batch()
    }

    func succeed() {
        for answer in answers { answer() }
    }

    func fail(_ error: StorageError) {
        for write in writes { write.fail(error) }
    }
}
