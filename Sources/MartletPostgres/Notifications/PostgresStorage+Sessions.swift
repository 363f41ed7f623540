import MartletCore
import MartletModel

extension PostgresStorage {
    /// Writes in the next transaction of a shard's sends.
    /// - Parameter work: It may run twice, so it has no effect but on the session.
    func write<Value: Sendable>(
        _ shard: Shard, _ work: @escaping @Sendable (ShardSession) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        do throws(StorageError) {
            return try await submit(to: shard, work)
        } catch  where error == NumberCache.unknownPlatform {
            // A platform that another node has met first. Its number is in the directory.
            _ = try await allPlatforms()
            return try await submit(to: shard, work)
        }
    }

    private func submit<Value: Sendable>(
        to shard: Shard, _ work: @escaping @Sendable (ShardSession) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let result: Result<Value, StorageError> = await withCheckedContinuation { caller in
            let fail: @Sendable (StorageError) -> Void = { caller.resume(returning: .failure($0)) }
            let write = SendWrite(
                apply: { session throws(StorageError) in
                    let value = try work(session)
                    return { caller.resume(returning: .success(value)) }
                }, fail: fail)
            sends.submit(write, to: shard, fail: fail)
        }
        return try result.get()
    }

    /// Reads from a shard with statements that may depend on each other.
    /// - Parameters:
    ///   - isConsistent: Whether all statements see the same point in time.
    ///   - work: It may run twice, if the connection breaks.
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
