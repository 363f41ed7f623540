public import MartletCore
public import MartletModel

extension PostgresStorage {
    public func sweep(at now: Timestamp, keeping retention: Retention = Retention()) async throws(StorageError) {
        try await sweepDevices(at: now, keeping: retention)
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

    private func sweepNodes() async throws(StorageError) {
        try await transaction { connection, patience throws(DatabaseFailure) in
            try connection.run(Batch(NodeStatements.sweep), patience)
            try connection.run(Batch(NodeStatements.sweepWriters), patience)
        }
    }
}
