public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: HubStore {
    public func hubs() async throws(StorageError) -> [Hub] {
        state.withLock { $0.hubs.sorted { $0.name.lowercased() < $1.name.lowercased() } }
    }

    public func createHub(
        name: String, settings: HubSettings, at now: Timestamp
    ) async throws(StorageError) -> Hub? {
        state.withLock { state in
            guard !state.hubs.contains(where: { $0.name.lowercased() == name.lowercased() }) else { return nil }
            let others = state.hubs.map(\.id)
            state.lastHub += 1
            let hub = Hub(
                id: Hub.ID(rawValue: state.lastHub), name: name, settings: settings, createdAt: now, modifiedAt: now)
            state.hubs.append(hub)
            if others.isEmpty {
                state.backendHub = hub.id
            } else if others.count == 1, state.backendHub == nil {
                state.backendHub = others[0]
            }
            return hub
        }
    }

    public func backendHub() async throws(StorageError) -> Hub.ID? { state.withLock(\.backendHub) }

    public func setBackendHub(_ id: Hub.ID) async throws(StorageError) { state.withLock { $0.backendHub = id } }

    public func updateHub(
        _ id: Hub.ID, settings: HubSettings, replacing old: HubSettings, at now: Timestamp
    ) async throws(StorageError) -> HubUpdate {
        state.withLock { state in
            guard let index = state.hubs.firstIndex(where: { $0.id == id }) else { return .absent }
            guard state.hubs[index].settings == old else { return .changed }
            state.hubs[index].settings = settings
            state.hubs[index].modifiedAt = now
            return .stored
        }
    }

    public func deleteHub(_ id: Hub.ID) async throws(StorageError) -> Bool {
        state.withLock { state in
            guard state.hubs.contains(where: { $0.id == id }) else { return false }
            state.hubs.removeAll { $0.id == id }
            state.channels.removeAll { $0.hub == id }
            state.registrations.removeAll { $0.hub == id }
            state.installations = state.installations.filter { $0.key.hub != id }
            state.tombstones = state.tombstones.filter { $0.hub != id }
            state.notifications.removeAll { $0.notification.hub == id }
            state.deliveries.removeAll { $0.progress.delivery.notification.hub == id }
            state.requests[id] = nil
            state.history.removeAll { $0.hub == id }
            state.formerChannels.removeAll { $0.hub == id }
            state.pauses = state.pauses.filter { $0.key.hub != id }
            state.quarantines = state.quarantines.filter { $0.key.hub != id }
            state.receipts = state.receipts.filter { $0.key.hub != id }
            state.jobs.removeAll { $0.job.hub == id }
            return true
        }
    }

    public func namespaceRules() async throws(StorageError) -> [AccessRule] {
        state.withLock(\.namespaceRules)
    }

    public func setNamespaceRules(
        _ rules: [AccessRule], replacing old: [AccessRule]
    ) async throws(StorageError) -> Bool {
        state.withLock { state in
            guard state.namespaceRules == old else { return false }
            state.namespaceRules = rules
            return true
        }
    }
}
