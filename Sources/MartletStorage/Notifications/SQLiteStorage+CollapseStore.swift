public import MartletCore

extension SQLiteStorage: CollapseStore {
    public func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded {
        try await readers.read { connection throws(StorageError) in try CollapseTable(connection).superseded(query) }
    }
}
