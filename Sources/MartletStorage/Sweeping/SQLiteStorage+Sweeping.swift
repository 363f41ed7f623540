public import MartletCore
public import MartletModel

extension SQLiteStorage {
    /// Removes expired data and the remaining data of deleted hubs, in portions, so that other writes can happen in
    /// between. Must be called periodically. Returns early if its task is cancelled.
    public func sweep(
        at now: Timestamp, keeping retention: Retention = Retention()
    ) async throws(StorageError) {
        for kind in Sweeper.Kind.allCases {
            var count = Sweeper.limit
            while count >= Sweeper.limit, !Task.isCancelled {
                count = try await writer.write { connection throws(StorageError) in
                    try Sweeper(connection, retention, at: now).removePortion(of: kind)
                }
            }
        }
        let deleted = try await readers.read { connection throws(StorageError) in
            try HubPurge.deletedHubs(connection)
        }
        for hub in deleted where !Task.isCancelled { try await purge(hub) }
        try await removeExpiredPayloads(at: now)
    }
}
