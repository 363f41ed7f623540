import MartletCore
import MartletModel

extension PostgresStorage {
    /// Makes a write in the next transaction of a shard's sends.
    /// - Parameters:
    ///   - elsewhere: If this node does not own the shard: the change to tell the owner, and the answer for the caller.
    ///   - work: Makes the write. May run twice, so it must have no effect other than on the session.
    func write<Value: Sendable>(
        _ shard: Shard, elsewhere: Elsewhere<Value> = Elsewhere(),
        _ work: @escaping @Sendable (ShardSession) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        do throws(StorageError) {
            return try await submit(to: shard, elsewhere, work)
        } catch  where error == NumberCache.unknownPlatform {
            // Another node has given a number to this platform. The number is read from the table of platforms.
            _ = try await allPlatforms()
            return try await submit(to: shard, elsewhere, work)
        }
    }

    /// Makes a write that only the owner of a shard may make. If another node has taken the shard over, that node
    /// continues from the last recorded state.
    /// - Returns: nil if this node does not own the shard; then nothing is written.
    func writeAsOwner<Value: Sendable>(
        _ shard: Shard, _ work: @escaping @Sendable (ShardSession) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value? {
        try await write(shard) { [nodes] session throws(StorageError) in
            guard let numbers = session.numbers else { return nil }
            guard numbers.node == nodes.incarnation else {
                nodes.countRefusal()
                return nil
            }
            return try work(session)
        }
    }

    private func submit<Value: Sendable>(
        to shard: Shard, _ elsewhere: Elsewhere<Value>,
        _ work: @escaping @Sendable (ShardSession) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let result: Result<Value, StorageError> = await withCheckedContinuation { caller in
            let fail: @Sendable (StorageError) -> Void = { caller.resume(returning: .failure($0)) }
            let write = SendWrite(
                apply: { [nodes] session throws(StorageError) in
                    let value = try work(session)
                    let answer = session.numbers?.node == nodes.incarnation ? value : elsewhere.answer(value)
                    return SendWrite.Applied(
                        answer: { caller.resume(returning: .success(answer)) }, change: elsewhere.change(value))
                }, fail: fail, nodes: nodes)
            sends.submit(write, to: shard, fail: fail)
        }
        if case .failure(Transaction.unknown) = result, unknownWrites.add(to: shard) { readAgain(after: shard) }
        return try result.get()
    }

    /// Makes this node read its hubs again when the unknown writes to a shard are over. If this node owns the shard,
    /// nothing else tells it of what these writes have stored: deliveries and jobs that are in no queue, or a control
    /// that is not in memory. The number of changes counts only what other nodes do.
    func readAgain(after shard: Shard) {
        Task {
            while true {
                let count = unknownWrites.count(in: shard)
                do throws(StorageError) {
                    // This waits for the lock on the shard, which a transaction holds until it is over.
                    let isOwn = try await write(shard) { [nodes] session throws(StorageError) in
                        session.numbers?.node == nodes.incarnation
                    }
                    if isOwn { nodes.loseHints() }
                    if unknownWrites.remove(count, from: shard) { return }
                } catch {
                    guard error.kind != .closed else { return }
                    try? await Task.sleep(for: Self.readAgainInterval)
                }
            }
        }
    }

    /// The time between two attempts to find out that a transaction is over.
    private static let readAgainInterval = Duration.seconds(1)

    /// Reads from a shard with statements that may depend on each other.
    /// - Parameters:
    ///   - isConsistent: Whether all statements see the same point in time.
    ///   - work: Reads. May run twice, if the connection breaks.
    func read<Value: Sendable>(
        _ shard: Shard, isConsistent: Bool = false,
        _ work: @escaping @Sendable (ShardSession) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await withReader { access, patience throws(DatabaseFailure) in
            let session = ShardSession(shard, access.connection, patience)
            if isConsistent { session.add(.beginSnapshot) }
            let value: Result<Value, StorageError>
            do throws(StorageError) {
                value = .success(try work(session))
            } catch {
                if let failure = session.failure, failure.isOfConnection { throw failure }
                value = .failure(error)
            }
            if isConsistent { try access.connection.run(Batch(.rollback), patience) }
            return value
        }
    }
}
