public import MartletCore
import MartletModel

extension SQLiteStorage: FunnelStore {
    public func funnelEvidence(
        of id: NotificationID, in hub: Hub.ID
    ) async throws(StorageError) -> FunnelEvidence {
        try await readers.read { connection throws(StorageError) in
            try FunnelTable(connection).evidence(of: id, in: hub)
        }
    }
}
