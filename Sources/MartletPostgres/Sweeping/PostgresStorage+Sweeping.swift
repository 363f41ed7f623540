public import MartletCore
public import MartletModel

extension PostgresStorage {
    public func sweep(at now: Timestamp, keeping retention: Retention = Retention()) async throws(StorageError) {
        try await sweepDevices(at: now, keeping: retention)
        try await sweepPacks()
        let end = now + (.zero - retention.notifications)
        while try await sweepNotifications(endedBefore: end), !Task.isCancelled {}
        while try await sweepRequestsAndPauses(at: now), !Task.isCancelled {}
        try await sweepNamespace(at: now, keeping: retention) { [payloadBodies] body throws(StorageError) in
            do throws(ContainerError) {
                try await payloadBodies.remove(body)
            } catch {
                if case .storage(let failure) = error { throw failure }
            }
        }
        try await purgeDeletedHubs()
        try await sweepNodes()
        try await sweepContents()
    }

    /// Removes the packs that are not used any more because too many of their channels have changed. A page that needs
    /// one asks for it again.
    private func sweepPacks() async throws(StorageError) {
        guard let packMaker else { return }
        let batch = Batch(PackStatements.changedBlocks) { $0.add(Int64(packMaker.rules.marksToUse)) }
        let rows = try await readPage(batch)[0]
        for index in 0..<rows.count where !Task.isCancelled {
            let row = rows[index]
            let block = PackBlock(
                shard: Shard(number: row.integer32(0)), scope: Scope(number: row.integer32(1)), number: row.integer(2))
            do throws(DatabaseFailure) {
                try await packMaker.remove(block)
            } catch  where !error.isOfConnection {
                // The hub has moved to another cluster. What it has left is removed as a whole.
                continue
            } catch {
                throw error.storageError
            }
        }
    }

    private func sweepNodes() async throws(StorageError) {
        try await transaction { connection, patience throws(DatabaseFailure) in
            try connection.run(Batch(NodeStatements.sweep), patience)
            try connection.run(Batch(NodeStatements.sweepWriters), patience)
        }
    }
}
