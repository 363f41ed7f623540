import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

struct HubDirectoryTests {
    @Test func aHubThatIsBeingDeletedIsNotFoundAndItsNameIsFree() async throws {
        let store = MeddlingStore()
        let hubs = HubDirectory(store: store, services: PushServiceList([]), time: ManualTimeSource())
        let old = try await hubs.create("aviary")
        store.afterDeletion {
            #expect(hubs.hub(named: "aviary") == nil)
            _ = try? await hubs.create("Aviary")
        }
        try await hubs.delete("aviary")
        let new = try #require(hubs.hub(named: "aviary"))
        #expect(new.id != old.id)
        #expect(try await store.hubs().map(\.id) == [new.id])
    }

    @Test func aChangeThatComesLateDoesNotBringADeletedHubBack() async throws {
        let store = MeddlingStore()
        let hubs = HubDirectory(
            store: store, services: PushServiceList([CarrierPigeon.self]), time: ManualTimeSource())
        _ = try await hubs.create("aviary")
        store.afterUpdate { try? await hubs.delete("aviary") }
        await #expect(throws: HubDirectoryError.self) {
            try await hubs.setCredential(Credential(["Whistle": "tweet"]), for: CarrierPigeon.platform, of: "aviary")
        }
        #expect(hubs.all.isEmpty)
    }
}

/// Hubs in memory, with something that happens before a verb returns.
private final class MeddlingStore: HubStore {
    typealias Event = @Sendable () async -> Void

    private let storage = MemoryStorage()
    private let events = Mutex<(deletion: Event?, update: Event?)>((nil, nil))

    func afterDeletion(_ event: @escaping Event) { events.withLock { $0.deletion = event } }
    func afterUpdate(_ event: @escaping Event) { events.withLock { $0.update = event } }

    func hubs() async throws(StorageError) -> [Hub] { try await storage.hubs() }

    func createHub(
        name: String, accessRules: [AccessRule], at now: Timestamp
    ) async throws(StorageError) -> Hub? {
        try await storage.createHub(name: name, accessRules: accessRules, at: now)
    }

    func updateHub(_ hub: Hub) async throws(StorageError) -> Bool {
        let isThere = try await storage.updateHub(hub)
        await events.withLock { $0.update }?()
        return isThere
    }

    func deleteHub(_ id: Hub.ID) async throws(StorageError) -> Bool {
        let isThere = try await storage.deleteHub(id)
        await events.withLock { $0.deletion }?()
        return isThere
    }
}
