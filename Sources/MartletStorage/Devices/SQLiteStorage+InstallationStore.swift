public import MartletCore
public import MartletModel

extension SQLiteStorage: InstallationStore {
    public func apply(
        _ change: InstallationChange, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Result<InstallationRecord, RegistrationRefusal> {
        if case .put = change { try room.check() }
        return try await writer.write { connection throws(StorageError) in
            try InstallationTable(connection).apply(change, in: hub, at: now)
        }
    }

    public func installation(
        _ id: String, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> InstallationRecord? {
        try await readers.read { connection throws(StorageError) in
            try InstallationTable(connection).installation(id, in: hub, at: now)
        }
    }
}
