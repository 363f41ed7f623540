public import MartletCore

extension SQLiteStorage: TraceStore {
    public func past(of device: String, in hub: Hub.ID) async throws(StorageError) -> RegistrationPast {
        try await readers.read { connection throws(StorageError) in
            try HistoryTable(connection).past(of: device, in: hub)
        }
    }
}
