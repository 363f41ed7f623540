import MartletCore

/// A write of notifications, deliveries or data that belongs to them, and the closures that tell its caller the result.
struct SendWrite: Sendable {
    /// Applies the write, and returns a closure that reports the success to the caller once the write is stored. It may
    /// run twice.
    var apply: @Sendable (ShardSession) throws(StorageError) -> Applied
    var fail: @Sendable (StorageError) -> Void
    /// The node that writes.
    var nodes: PostgresNodes

    struct Applied {
        var answer: @Sendable () -> Void
        var change: SendChange
    }
}

/// The writes of one hub's sends that are done in one transaction, one after another. Each write sees the results of
/// the earlier ones.
struct SendGroup: ShardGroup {
    private let writes: [SendWrite]
    private var answers: [@Sendable () -> Void] = []
    private var hints: [HintText] = []

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
        var change = SendChange.none
        for write in writes {
            let applied = try write.apply(session)
            answers.append(applied.answer)
            change.formUnion(applied.change)
        }
        numbers = session.numbers
        if var counted = numbers, let node = writes.first?.nodes.incarnation {
            hints = change.count(in: &counted, session.shard, by: node)
            numbers = counted
        }
        return Batch()
    }

    func succeed() {
        writes.first?.nodes.announce(hints)
        for answer in answers { answer() }
    }

    func fail(_ error: StorageError) {
        for write in writes { write.fail(error) }
    }
}
