import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

struct HubDirectoryTests {
    @Test func aHubThatIsBeingDeletedIsNotFoundAndItsNameIsFree() async throws {
        let store = MeddlingStore()
        let hubs = HubDirectory(store: store, platforms: PushPlatformList([]), time: ManualTimeSource())
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
            store: store, platforms: PushPlatformList([CarrierPigeon.self]), time: ManualTimeSource())
        _ = try await hubs.create("aviary")
        store.afterUpdate { try? await hubs.delete("aviary") }
        await #expect(throws: HubDirectoryError.self) {
            try await hubs.setCredential(Credential(["Whistle": "tweet"]), for: CarrierPigeon.platform, of: "aviary")
        }
        #expect(hubs.all.isEmpty)
    }

    @Test func changesAtOnceAreAllKept() async throws {
        let store = MeddlingStore()
        let hubs = HubDirectory(
            store: store, platforms: PushPlatformList([CarrierPigeon.self]), time: ManualTimeSource())
        try await hubs.reload()
        _ = try await hubs.create("aviary")
        store.afterUpdate { await Task.yield() }
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await hubs.setCredential(Credential(["Whistle": "a"]), for: CarrierPigeon.platform, of: "aviary")
            }
            group.addTask {
                _ = try await hubs.regenerateKey(.primary, of: AccessRule.defaultFullName, in: "aviary")
            }
            for index in 0..<100 {
                group.addTask {
                    _ = try await hubs.update("AVIARY") { $0.userMetadata = ($0.userMetadata ?? "") + "." }
                }
                group.addTask {
                    _ = try await hubs.update("aviary") { $0.registrationTTL = .seconds(86_400 + index) }
                }
            }
            try await group.waitForAll()
        }
        let hub = try #require(hubs.hub(named: "aviary"))
        #expect(hub.settings.userMetadata?.count == 100)
        #expect(hub.settings.credentials == [CarrierPigeon.platform: Credential(["Whistle": "a"])])
        #expect(try await store.hubs().map(\.settings) == [hub.settings])
    }

    @Test func aRegeneratedKeyReplacesOneOfTwo() async throws {
        let time = ManualTimeSource()
        let store = MemoryStorage()
        let hubs = HubDirectory(store: store, platforms: PushPlatformList([]), time: time)
        try await hubs.reload()
        let hub = try await hubs.create("aviary")
        let old = try #require(hub.settings.accessRules.last)
        time.advance(by: .seconds(5))
        for key in AccessRule.KeyKind.allCases {
            let before = try #require(hubs.hub(named: "aviary")?.settings.accessRules.last)
            let rule = try await hubs.regenerateKey(key, of: old.name, in: "aviary")
            #expect(rule[key] != before[key])
            let other: AccessRule.KeyKind = key == .primary ? .secondary : .primary
            #expect(rule[other] == before[other])
            #expect(rule.createdAt == old.createdAt)
            #expect(rule.modifiedAt == time.now)
            #expect(hubs.hub(named: "aviary")?.settings.accessRules == [hub.settings.accessRules[0], rule])
            #expect(try await store.hubs().map(\.settings.accessRules) == [[hub.settings.accessRules[0], rule]])
        }
        await #expect(throws: HubDirectoryError.self) {
            try await hubs.regenerateKey(.primary, of: "nobody", in: "aviary")
        }
    }

    @Test func theRootRuleIsMadeOnceAndItsKeysCanBeRegenerated() async throws {
        let store = MemoryStorage()
        let hubs = HubDirectory(store: store, platforms: PushPlatformList([]), time: ManualTimeSource())
        try await hubs.reload()
        let root = try #require(hubs.namespaceRules.first)
        #expect(hubs.namespaceRules == [root])
        #expect(root.name == "RootManageSharedAccessKey")
        #expect(root.rights == .all)
        let changed = try await hubs.regenerateNamespaceKey(.secondary, of: root.name)
        #expect(changed.primaryKey == root.primaryKey)
        #expect(changed.secondaryKey != root.secondaryKey)
        try await hubs.reload()
        #expect(hubs.namespaceRules == [changed])
    }

    @Test func settingsOutsideTheLimitsAreRefusedAndNothingChanges() async throws {
        let hubs = HubDirectory(store: MemoryStorage(), platforms: PushPlatformList([]), time: ManualTimeSource())
        try await hubs.reload()
        let hub = try await hubs.create("aviary")
        func rule(_ name: String, rights: AccessRights = .send, key: String = "k") -> AccessRule {
            AccessRule(
                name: name, rights: rights, primaryKey: key, secondaryKey: key, createdAt: hub.createdAt,
                modifiedAt: hub.createdAt)
        }
        let long = String(repeating: "x", count: 257)
        let faults: [HubSettings] = [
            HubSettings(accessRules: (1...13).map { rule("r\($0)") }),
            HubSettings(accessRules: [rule("a"), rule("a")]),
            HubSettings(accessRules: [rule("")]), HubSettings(accessRules: [rule(long)]),
            HubSettings(accessRules: [rule("a;b")]), HubSettings(accessRules: [rule("a", rights: [])]),
            HubSettings(accessRules: [rule("a", key: "")]), HubSettings(accessRules: [rule("a", key: long)]),
            HubSettings(registrationTTL: .milliseconds(86_399_999)),
            HubSettings(userMetadata: String(repeating: "x", count: 1025)),
            HubSettings(credentials: [CarrierPigeon.platform: Credential([:])]),
        ]
        for settings in faults {
            await #expect(throws: HubDirectoryError.self) { try await hubs.update("aviary") { $0 = settings } }
            await #expect(throws: HubDirectoryError.self) { try await hubs.create("other", settings) }
        }
        #expect(hubs.all.map(\.settings) == [hub.settings])
        let fitting = HubSettings(
            accessRules: (1...12).map { rule("r\($0)") }, registrationTTL: .seconds(86_400),
            userMetadata: String(repeating: "x", count: 1024))
        #expect(try await hubs.update("aviary") { $0 = fitting }.settings == fitting)
    }

    @Test func observersOfCredentialsAreNotifiedOnlyOfChanges() async throws {
        let hubs = HubDirectory(
            store: MemoryStorage(), platforms: PushPlatformList([CarrierPigeon.self]), time: ManualTimeSource())
        try await hubs.reload()
        let heard = Mutex<Set<Hub.ID>>([])
        hubs.onCredentialsChange { id in heard.withLock { _ = $0.insert(id) } }
        let hub = try await hubs.create("aviary")
        _ = try await hubs.update("aviary") { $0.userMetadata = "x" }
        #expect(heard.withLock { $0.isEmpty })
        _ = try await hubs.update("aviary") { $0.credentials[CarrierPigeon.platform] = Credential(["Whistle": "x"]) }
        #expect(heard.withLock { $0 } == [hub.id])
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

    func createHub(name: String, settings: HubSettings, at now: Timestamp) async throws(StorageError) -> Hub? {
        try await storage.createHub(name: name, settings: settings, at: now)
    }

    func updateHub(
        _ id: Hub.ID, settings: HubSettings, replacing old: HubSettings, at now: Timestamp
    ) async throws(StorageError) -> HubUpdate {
        let update = try await storage.updateHub(id, settings: settings, replacing: old, at: now)
        await events.withLock { $0.update }?()
        return update
    }

    func backendHub() async throws(StorageError) -> Hub.ID? { try await storage.backendHub() }

    func setBackendHub(_ id: Hub.ID) async throws(StorageError) { try await storage.setBackendHub(id) }

    func namespaceRules() async throws(StorageError) -> [AccessRule] { try await storage.namespaceRules() }

    func setNamespaceRules(
        _ rules: [AccessRule], replacing old: [AccessRule]
    ) async throws(StorageError) -> Bool {
        try await storage.setNamespaceRules(rules, replacing: old)
    }

    func deleteHub(_ id: Hub.ID) async throws(StorageError) -> Bool {
        let isThere = try await storage.deleteHub(id)
        await events.withLock { $0.deletion }?()
        return isThere
    }
}
