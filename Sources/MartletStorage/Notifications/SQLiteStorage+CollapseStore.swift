public import MartletCore

extension SQLiteStorage: CollapseStore {
    public func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded {
        try await readers.read { connection throws(StorageError) in try CollapseTable(connection).superseded(query) }
    }

    public func supersedeNothing(_ delivery: Delivery.ID, in hub: Hub.ID) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in try CollapseTable(connection).remove(delivery) }
    }
}
