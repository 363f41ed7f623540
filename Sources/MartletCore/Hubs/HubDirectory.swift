public import MartletModel
import Synchronization

/// The hubs, and the access rules of the namespace, which apply to all hubs. Both are kept in memory, because every
/// request needs a hub. Writes go to the store first, so everything in the directory is on disk.
///
/// Changes to settings are made one at a time, each based on the result of the previous change, so that concurrent
/// changes of a hub are not lost. If other processes change the same store, `refresh` reads their changes.
public final class HubDirectory: Sendable {
    private struct Contents {
        var hubs: [String: Hub] = [:]
        /// The hubs that the store is deleting.
        var deleting: Set<Hub.ID> = []
        var namespaceRules: [AccessRule] = []
        /// The hub that was chosen for the app backend, which may have been deleted since; nil if no hub was chosen.
        var backend: Hub.ID?
        /// Counts the changes that this process has made, so that `refresh` does not overwrite a change with contents
        /// that it read before the change.
        var changes = 0
        /// Counts the calls of `refresh` that have replaced the contents. A change by this process compares the count,
        /// so that it does not overwrite, in memory, a later change by another process.
        var refreshes = 0
    }

    /// The contents of the directory, as read from the store.
    private struct Stored {
        var hubs: [Hub]
        var namespaceRules: [AccessRule]
        var backend: Hub.ID?
    }

    private let store: any HubStore
    private let time: any TimeSource
    private let platforms: PushPlatformList
    private let fallbacks: [PlatformID: Credential]
    /// Whether other processes change the same store.
    private let isShared: Bool
    /// The limits of hubs that have no limits of their own.
    public var standard: DefaultLimits { standardLimits.withLock(\.self) }
    private let standardLimits: Mutex<DefaultLimits>
    private let contents = Mutex(Contents())
    private let changes = SerialWork()
    private let creationObserver = Mutex<(@Sendable (Hub.ID) -> Void)?>(nil)
    private let credentialsObserver = Mutex<(@Sendable (Hub.ID) -> Void)?>(nil)
    private let deletionObserver = Mutex<(@Sendable (Hub.ID) -> Void)?>(nil)

    /// Creates an empty directory. Call `reload` before the first look-up.
    /// - Parameters:
    ///   - fallbacks: The credentials for hubs that have none of their own for a platform, such as credentials for the
    ///     simulator. They are never stored.
    ///   - isShared: Whether other processes change the same store. If so, `refresh` must be called after their
    ///     changes.
    public init(
        store: any HubStore, platforms: PushPlatformList, time: any TimeSource,
        fallbacks: [PlatformID: Credential] = [:], standard: DefaultLimits = DefaultLimits(), isShared: Bool = false
    ) {
        self.isShared = isShared
        standardLimits = Mutex(standard)
        self.fallbacks = fallbacks
        self.store = store
        self.platforms = platforms
        self.time = time
    }

    /// Reads all hubs and rules from the store, and creates the root rule if there is none.
    public func reload() async throws(StorageError) {
        var stored = try await read()
        if stored.namespaceRules.isEmpty {
            stored.namespaceRules = [AccessRule(name: AccessRule.rootName, rights: .all, at: time.now)]
            // If several nodes start at the same time, the store keeps the rule of one of them.
            if try await !store.setNamespaceRules(stored.namespaceRules, replacing: []) {
                stored.namespaceRules = try await store.namespaceRules()
            }
        }
        contents.withLock { contents in
            contents.changes += 1
            contents.hubs = Dictionary(uniqueKeysWithValues: stored.hubs.map { ($0.name.lowercased(), $0) })
            contents.namespaceRules = stored.namespaceRules
            contents.backend = stored.backend
        }
    }

    private func read() async throws(StorageError) -> Stored {
        let hubs = try await store.hubs()
        let backend = try await store.backendHub()
        return Stored(hubs: hubs, namespaceRules: try await store.namespaceRules(), backend: backend)
    }

    /// Reads the changes that other processes have made in the store, and calls the observers of credentials and
    /// deletions as if this process had made the changes.
    public func refresh() async throws(StorageError) {
        while true {
            let changes = contents.withLock(\.changes)
            let stored = try await read()
            guard let (renewed, gone) = take(stored, ifStill: changes) else { continue }
            for id in renewed { credentialsObserver.withLock(\.self)?(id) }
            for id in gone { deletionObserver.withLock(\.self)?(id) }
            return
        }
    }

    /// Replaces the contents with those that were read from the store, unless this process has changed something since
    /// the read began.
    /// - Parameter changes: The number of changes by this process when the read began.
    /// - Returns: The hubs whose credentials were set, and the hubs that do not exist any more; nil if nothing was
    ///   replaced.
    private func take(_ stored: Stored, ifStill changes: Int) -> (renewed: [Hub.ID], gone: [Hub.ID])? {
        contents.withLock { contents in
            guard contents.changes == changes else { return nil }
            contents.refreshes += 1
            let old = Dictionary(uniqueKeysWithValues: contents.hubs.values.map { ($0.id, $0) })
            let hubs = stored.hubs.filter { !contents.deleting.contains($0.id) }
            contents.hubs = Dictionary(uniqueKeysWithValues: hubs.map { ($0.name.lowercased(), $0) })
            // If the store has no rules yet, another process is about to store the root rule.
            if !stored.namespaceRules.isEmpty { contents.namespaceRules = stored.namespaceRules }
            contents.backend = stored.backend
            let renewed = hubs.filter { hub in old[hub.id].map { hub.hasOtherCredentials(than: $0) } ?? false }
            return (renewed.map(\.id), Array(Set(old.keys).subtracting(hubs.map(\.id))))
        }
    }

    /// Chooses the hub of the app backend, for this process and later ones.
    /// - Parameter name: The hub's name; if there is no such hub, nothing changes.
    public func chooseBackendHub(named name: String) async throws(StorageError) {
        guard let id = hub(named: name)?.id, id != contents.withLock(\.backend) else { return }
        try await store.setBackendHub(id)
        contents.withLock { contents in
            contents.changes += 1
            contents.backend = id
        }
    }

    /// Changes the limits of hubs that have no limits of their own, from the next request on.
    public func setStandard(_ limits: DefaultLimits) {
        standardLimits.withLock { $0 = limits }
    }

    /// Calls `observer` after this process has created a hub; replaces an earlier observer.
    public func onCreation(_ observer: @escaping @Sendable (Hub.ID) -> Void) {
        creationObserver.withLock { $0 = observer }
    }

    /// Calls `observer` after every change of a hub's credentials, and when the same credential is set again; replaces
    /// an earlier observer.
    public func onCredentialsChange(_ observer: @escaping @Sendable (Hub.ID) -> Void) {
        credentialsObserver.withLock { $0 = observer }
    }

    /// Calls `observer` when the deletion of a hub begins, and when the deletion has succeeded or failed;
    /// `presence(of:)` tells these cases apart.
    public func onDeletion(_ observer: @escaping @Sendable (Hub.ID) -> Void) {
        deletionObserver.withLock { $0 = observer }
    }

    // MARK: Looking up

    /// Whether a hub exists, is being deleted, or does not exist.
    enum Presence: Sendable, Equatable {
        case present
        /// The hub is being deleted; the deletion may still fail.
        case deleting
        case absent
    }

    func presence(of id: Hub.ID) -> Presence {
        contents.withLock { contents in
            if contents.hubs.values.contains(where: { $0.id == id }) { return .present }
            return contents.deleting.contains(id) ? .deleting : .absent
        }
    }

    /// Returns the hub with a name, compared without case; nil if there is none.
    public func hub(named name: String) -> Hub? {
        contents.withLock { $0.hubs[name.lowercased()] }
    }

    public func hub(_ id: Hub.ID) -> Hub? {
        contents.withLock { contents in contents.hubs.values.first { $0.id == id } }
    }

    /// The result of choosing the hub of the app backend.
    public enum BackendChoice: Sendable {
        case hub(Hub)
        /// There is no hub.
        case noHub
        /// No hub was chosen, and there are several.
        case open
        /// The chosen hub was deleted, and other hubs are left. No other hub is chosen automatically, because the other
        /// hubs may have devices of other users.
        case deleted
    }

    public var backendChoice: BackendChoice {
        contents.withLock { contents in
            if let id = contents.backend {
                if let hub = contents.hubs.values.first(where: { $0.id == id }) { return .hub(hub) }
                return contents.hubs.isEmpty ? .noHub : .deleted
            }
            guard let hub = contents.hubs.values.first else { return .noHub }
            return contents.hubs.count == 1 ? .hub(hub) : .open
        }
    }

    /// Returns the credential that a hub uses for a platform: its own credential, or the fallback; nil if there is
    /// neither.
    func credential(for platform: PlatformID, of id: Hub.ID) -> Credential? {
        let platform = platforms[platform]?.descriptor.credentialPlatform ?? platform
        return hub(id).flatMap { $0.settings.credentials[platform] ?? fallbacks[platform] }
    }

    /// Returns the platforms that a hub can send to. Each of them has a push service, and the hub has a credential of
    /// its own or a fallback for it.
    public func platforms(sentToFrom id: Hub.ID) -> [any PushPlatform.Type] {
        platforms.filter { platform in
            let platform = platform.descriptor.platform
            return platforms.service(platform) != nil && credential(for: platform, of: id) != nil
        }
    }

    /// All hubs that are not being deleted, sorted by name.
    public var all: [Hub] {
        contents.withLock { $0.hubs.values.sorted { $0.name.lowercased() < $1.name.lowercased() } }
    }

    /// The access rules that apply to every hub and to the creation of hubs.
    public var namespaceRules: [AccessRule] {
        contents.withLock(\.namespaceRules)
    }

    // MARK: Changing

    /// Creates a hub with the rules of `settings` and the two default rules.
    public func create(
        _ name: String, _ settings: HubSettings = HubSettings()
    ) async throws(HubDirectoryError) -> Hub {
        guard HubName.isValid(name) else { throw .badName(name) }
        var settings = settings
        settings.addDefaultRules(at: time.now)
        try settings.check(platforms: platforms)
        let created: Hub?
        do throws(StorageError) {
            created = try await store.createHub(name: name, settings: settings, at: time.now)
        } catch {
            throw .storage(error)
        }
        guard let hub = created else { throw .exists(name) }
        // The hub has been created, so an error is ignored here: if the choice of the backend's hub cannot be read now,
        // it is read at the next start.
        let backend = try? await store.backendHub()
        contents.withLock { contents in
            contents.changes += 1
            contents.hubs[name.lowercased()] = hub
            contents.backend = backend ?? contents.backend
        }
        creationObserver.withLock(\.self)?(hub.id)
        return hub
    }

    /// Changes the settings of a hub. All changes of settings go through this method.
    /// - Parameter change: A function that changes the given settings. If another process has changed the hub in the
    ///   meantime, the function is called again with the settings that the other process stored.
    /// - Returns: The changed hub.
    /// - Throws: `HubDirectoryError`; then nothing has changed.
    public func update(
        _ name: String, _ change: @escaping @Sendable (inout HubSettings) throws(HubDirectoryError) -> Void
    ) async throws(HubDirectoryError) -> Hub {
        try await update(name, storesUnchanged: false, change)
    }

    /// - Parameter storesUnchanged: Whether the hub is stored even if the change leaves its settings as they are.
    private func update(
        _ name: String, storesUnchanged: Bool,
        _ change: @escaping @Sendable (inout HubSettings) throws(HubDirectoryError) -> Void
    ) async throws(HubDirectoryError) -> Hub {
        let result = await changes.run { () async -> Result<Hub, HubDirectoryError> in
            do throws(HubDirectoryError) {
                return .success(try await self.apply(change, to: name, storesUnchanged: storesUnchanged))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Sets the credential of a platform; nil removes it. The credential is checked, but without contacting the push
    /// service.
    public func setCredential(
        _ credential: Credential?, for platform: PlatformID, of name: String
    ) async throws(HubDirectoryError) {
        // The hub is stored even if the credential is the same as before: its new `modifiedAt` tells other processes
        // that the credential was set again.
        let hub = try await update(name, storesUnchanged: isShared) { $0.credentials[platform] = credential }
        // Setting the same credential again calls the observer too, because the push service may accept the credential
        // only now.
        credentialsObserver.withLock(\.self)?(hub.id)
    }

    /// Replaces one of the two keys of a rule with a new key. The old key becomes invalid immediately; the other key
    /// stays valid.
    public func regenerateKey(
        _ key: AccessRule.KeyKind, of rule: String, in name: String
    ) async throws(HubDirectoryError) -> AccessRule {
        let now = time.now
        let hub = try await update(name) { settings throws(HubDirectoryError) in
            try settings.accessRules.regenerateKey(key, of: rule, at: now)
        }
        guard let changed = hub.settings.accessRules.first(where: { $0.name == rule }) else {
            throw .ruleNotFound(rule)
        }
        return changed
    }

    /// Replaces a key of a rule of the namespace with a new key.
    public func regenerateNamespaceKey(
        _ key: AccessRule.KeyKind, of rule: String
    ) async throws(HubDirectoryError) -> AccessRule {
        let result = await changes.run { () async -> Result<[AccessRule], HubDirectoryError> in
            do throws(HubDirectoryError) {
                return .success(try await self.applyNamespaceKey(key, of: rule))
            } catch {
                return .failure(error)
            }
        }
        guard let changed = try result.get().first(where: { $0.name == rule }) else { throw .ruleNotFound(rule) }
        return changed
    }

    /// Deletes a hub with everything in it. The hub cannot be found from the start of the deletion, which may take a
    /// while. Its name is available again once the store has deleted it.
    public func delete(_ name: String) async throws(HubDirectoryError) {
        let removed = contents.withLock { contents in
            let hub = contents.hubs.removeValue(forKey: name.lowercased())
            contents.changes += 1
            if let hub { contents.deleting.insert(hub.id) }
            return hub
        }
        guard let hub = removed else { throw .notFound(name) }
        let observer = deletionObserver.withLock(\.self)
        observer?(hub.id)
        defer {
            contents.withLock { contents in
                contents.changes += 1
                contents.deleting.remove(hub.id)
            }
            observer?(hub.id)
        }
        do throws(StorageError) {
            _ = try await store.deleteHub(hub.id)
        } catch {
            // Reads the hubs again, so that the hub can be found again if the store still has it. If the store cannot
            // be read either, the hub can be found again after the next start.
            try? await reload()
            throw .storage(error)
        }
    }

    private func apply(
        _ change: (inout HubSettings) throws(HubDirectoryError) -> Void, to name: String, storesUnchanged: Bool
    ) async throws(HubDirectoryError) -> Hub {
        while true {
            guard let old = hub(named: name) else { throw .notFound(name) }
            var hub = old
            try change(&hub.settings)
            guard storesUnchanged || hub.settings != old.settings else { return old }
            try hub.settings.check(replacing: old.settings, platforms: platforms)
            hub.modifiedAt = time.now
            guard try await store(hub, replacing: old) else {
                // Another node has changed the hub. The change is made again, to the settings that the other node has
                // stored.
                try await refreshed()
                continue
            }
            if hub.settings.credentials != old.settings.credentials {
                credentialsObserver.withLock(\.self)?(hub.id)
            }
            return hub
        }
    }

    private func refreshed() async throws(HubDirectoryError) {
        do throws(StorageError) {
            try await refresh()
        } catch {
            throw .storage(error)
        }
    }

    /// Stores the settings of a hub.
    /// - Returns: False if the settings in the store are not those of `old`.
    private func store(_ hub: Hub, replacing old: Hub) async throws(HubDirectoryError) -> Bool {
        let refreshes = contents.withLock(\.refreshes)
        let update: HubUpdate
        do throws(StorageError) {
            update = try await store.updateHub(
                hub.id, settings: hub.settings, replacing: old.settings, at: hub.modifiedAt)
        } catch {
            throw .storage(error)
        }
        guard update != .changed else { return false }
        let key = hub.name.lowercased()
        let (isShown, isDoubtful) = contents.withLock { contents in
            contents.changes += 1
            // A hub that was deleted in the meantime stays deleted.
            guard contents.hubs[key]?.id == hub.id else { return (false, false) }
            // `refresh` was called in the meantime, and may have read a later change of another process. Then the hub
            // is read again below.
            guard contents.refreshes == refreshes else { return (true, true) }
            contents.hubs[key] = hub
            return (true, false)
        }
        guard update == .stored, isShown else { throw .notFound(hub.name) }
        if isDoubtful { try await refreshed() }
        return true
    }

    private func applyNamespaceKey(
        _ key: AccessRule.KeyKind, of rule: String
    ) async throws(HubDirectoryError) -> [AccessRule] {
        let old = namespaceRules
        var rules = old
        try rules.regenerateKey(key, of: rule, at: time.now)
        let isStored: Bool
        do throws(StorageError) {
            isStored = try await store.setNamespaceRules(rules, replacing: old)
            if !isStored { try await refresh() }
        } catch {
            throw .storage(error)
        }
        guard isStored else { return try await applyNamespaceKey(key, of: rule) }
        contents.withLock { contents in
            contents.changes += 1
            contents.namespaceRules = rules
        }
        return rules
    }
}

extension Hub {
    /// Returns whether the hub's credentials were changed, or were set again without a change. In the second case, only
    /// `modifiedAt` has changed.
    fileprivate func hasOtherCredentials(than old: Hub) -> Bool {
        settings.credentials != old.settings.credentials
            || modifiedAt != old.modifiedAt && settings == old.settings
    }
}

extension [AccessRule] {
    fileprivate mutating func regenerateKey(
        _ key: AccessRule.KeyKind, of name: String, at now: Timestamp
    ) throws(HubDirectoryError) {
        guard let index = firstIndex(where: { $0.name == name }) else { throw .ruleNotFound(name) }
        self[index][key] = AccessRule.newKey()
        self[index].modifiedAt = now
    }
}
