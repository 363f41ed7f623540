public import MartletCore
public import MartletModel

extension SQLiteStorage: HubStore {
    public func hubs() async throws(StorageError) -> [Hub] {
        try await readers.read { [sealer] connection throws(StorageError) in
            try HubTable(connection, sealer).hubs()
        }
    }

    public func createHub(
        name: String, settings: HubSettings, at now: Timestamp
    ) async throws(StorageError) -> Hub? {
        try await takeIn { [sealer] connection throws(StorageError) in
            try HubTable(connection, sealer).create(name: name, settings: settings, at: now)
        }
    }

    public func updateHub(
        _ id: Hub.ID, settings: HubSettings, replacing old: HubSettings, at now: Timestamp
    ) async throws(StorageError) -> HubUpdate {
        try await writer.write { [sealer] connection throws(StorageError) in
            try HubTable(connection, sealer).update(id, settings: settings, replacing: old, at: now)
        }
    }

    public func backendHub() async throws(StorageError) -> Hub.ID? {
        try await readers.read { [sealer] connection throws(StorageError) in
            try HubTable(connection, sealer).backendHub()
        }
    }

    public func setBackendHub(_ id: Hub.ID) async throws(StorageError) {
        try await writer.write { [sealer] connection throws(StorageError) in
            try HubTable(connection, sealer).setBackendHub(id)
        }
    }

    public func namespaceRules() async throws(StorageError) -> [AccessRule] {
        try await readers.read { [sealer] connection throws(StorageError) in
            try AccessRuleTable(connection, sealer).namespaceRules()
        }
    }

    public func setNamespaceRules(
        _ rules: [AccessRule], replacing old: [AccessRule]
    ) async throws(StorageError) -> Bool {
        try await writer.write { [sealer] connection throws(StorageError) in
            let table = AccessRuleTable(connection, sealer)
            guard try table.namespaceRules() == old else { return false }
            try table.replaceNamespaceRules(rules)
            return true
        }
    }
}
