public import MartletCore
public import MartletModel

extension SQLiteStorage: HubStore {
    public func hubs() async throws(StorageError) -> [Hub] {
        try await readers.read { [sealer] connection throws(StorageError) in
            try HubTable(connection, sealer).hubs()
        }
    }

    public func createHub(
        name: String, accessRules: [AccessRule], at now: Timestamp
    ) async throws(StorageError) -> Hub? {
        try await writer.write { [sealer] connection throws(StorageError) in
            try HubTable(connection, sealer).create(name: name, accessRules: accessRules, at: now)
        }
    }

    public func updateHub(_ hub: Hub) async throws(StorageError) -> Bool {
        try await writer.write { [sealer] connection throws(StorageError) in
            try HubTable(connection, sealer).update(hub)
        }
    }

    public func deleteHub(_ id: Hub.ID) async throws(StorageError) -> Bool {
        try await writer.write { [sealer] connection throws(StorageError) in
            try HubTable(connection, sealer).delete(id)
        }
    }
}
