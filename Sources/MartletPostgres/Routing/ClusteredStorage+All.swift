public import MartletCore
public import MartletModel

// What concerns the hubs of all clusters is read from each, and put together.

extension ClusteredStorage {
    public var reachedStore: (any ReachedStore)? { self }

    public func accept(_ draft: NotificationDraft) async throws(StorageError) -> Acceptance {
        let own = try storage(of: draft.hub)
        let all = draft.backlogLimits == nil ? nil : try await backlogOfAll(besides: own)
        return try await own.accept(draft, backlogOfAll: all)
    }

    /// Returns the size of the backlog of all hubs together. Only the first cluster and that of a hub are asked, so that
    /// a send waits for no other. The sizes of the others are those of their last renewals, also if they are away.
    private func backlogOfAll(besides own: PostgresStorage) async throws(StorageError) -> BacklogSize {
        var all = try await home.backlogOfAll()
        for member in members {
            let isOwn = (try? member.storage) === own
            guard let size = try await isOwn ? own.backlogOfAll() : member.backlog else { continue }
            all.notifications += size.notifications
            all.bytes += size.bytes
        }
        return all
    }

    public func release(dueBy time: any TimeSource, limit: Int) async throws(StorageError) -> ReleasedNotifications {
        try await fromAll { storage throws(StorageError) in try await storage.release(dueBy: time, limit: limit) }
            .reduce(into: ReleasedNotifications(count: 0, deliveries: [])) { all, released in
                all.count += released.count
                all.deliveries += released.deliveries
            }
    }

    public func nextDue() async throws(StorageError) -> Timestamp? {
        try await fromAll { storage throws(StorageError) in try await storage.nextDue() }.compactMap(\.self).min()
    }

    public func unfinished(after id: Delivery.ID, limit: Int) async throws(StorageError) -> [DeliveryProgress] {
        if limit == 1 {
            // A caller that asks for the one delivery behind `id` takes it as finished if it is not there. So its cluster must
            // answer.
            let next = Delivery.ID(rawValue: id.rawValue == .max ? .max : id.rawValue + 1)
            let own = try await storage(of: next).unfinished(after: id, limit: 1)
            if own.first?.delivery.id == next { return own }
        }
        let found = try await fromAll { storage throws(StorageError) in
            try await storage.unfinished(after: id, limit: limit)
        }.joined()
        return Array(found.sorted { $0.delivery.id.rawValue < $1.delivery.id.rawValue }.prefix(limit))
    }

    public func expediteRetries(beyond timestamp: Timestamp, by amount: Duration) async throws(StorageError) {
        _ = try await fromAll { storage throws(StorageError) in
            try await storage.expediteRetries(beyond: timestamp, by: amount)
        }
    }

    public func controlled() async throws(StorageError) -> [ControlledNotification] {
        try await fromAll { storage throws(StorageError) in try await storage.controlled() }.flatMap(\.self)
    }

    public func canariesDue(at now: Timestamp, limit: Int) async throws(StorageError) -> [HeldCanary] {
        try await fromAll { storage throws(StorageError) in try await storage.canariesDue(at: now, limit: limit) }
            .flatMap(\.self)
    }

    public func correctHolds(at now: Timestamp) async throws(StorageError) {
        _ = try await fromAll { storage throws(StorageError) in try await storage.correctHolds(at: now) }
    }

    public func persistedLaneStates(at now: Timestamp) async throws(StorageError) -> [PersistedLaneState] {
        try await fromAll { storage throws(StorageError) in try await storage.persistedLaneStates(at: now) }
            .flatMap(\.self)
    }

    public func unfinishedJobs() async throws(StorageError) -> [JobProgress] {
        try await fromAll { storage throws(StorageError) in try await storage.unfinishedJobs() }.flatMap(\.self)
    }

    public func addReceipts(
        _ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp
    ) async throws(StorageError) {
        try await storage(of: source.hub).addReceipts(receipts, from: source, at: now, payloads: home)
    }

    public func receipts(
        of subject: Receipt.Subject, in hub: Hub.ID, after last: DeviceReceipt?, limit: Int
    ) async throws(StorageError) -> [DeviceReceipt] {
        let storage =
            switch subject {
            case .payload: home
            case .notification: try storage(of: hub)
            }
        return try await storage.receipts(of: subject, in: hub, after: last, limit: limit)
    }
}

extension ClusteredStorage: ServerStorage {
    public var maps: any ProgressMaps { home.maps }
    public var containerStore: any ContainerStore { home.containerStore }
    public var payloadBodies: PayloadBodies { home.payloadBodies }
    public var nodeStore: (any NodeStore)? { nodeStoreOfAll }
    public var clusterStore: (any ClusterStore)? { self }

    public func probe() async throws(StorageError) { try await home.probe() }

    public func turn() async {
        await home.turn()
        for member in members { await (try? member.storage)?.turn() }
    }

    public func sweep(at now: Timestamp, keeping retention: Retention) async throws(StorageError) {
        _ = try await fromAll { storage throws(StorageError) in try await storage.sweep(at: now, keeping: retention) }
        var failure: StorageError?
        for hub in try await home.deletedElsewhere() {
            do throws(StorageError) {
                try await purge(deleted: hub)
            } catch {
                // While a cluster is away, the rest is still swept.
                failure = error
            }
        }
        try await removeLeftovers()
        if let failure { throw failure }
    }

    public func reseal(before deadline: ContinuousClock.Instant) async throws(StorageError) -> Bool {
        for storage in try all {
            guard try await storage.reseal(before: deadline) else { return false }
        }
        return true
    }

    public func sealedOtherwise() async throws(StorageError) -> Int64 {
        var count: Int64 = 0
        for storage in try all { count += try await storage.sealedOtherwise() }
        return count
    }

    // MARK: Figures

    public func backlog() async throws(StorageError) -> Backlog {
        let backlogs = try await fromAll { storage throws(StorageError) in try await storage.backlog() }
        return Backlog(
            deliveries: backlogs.reduce(0) { $0 + $1.deliveries },
            notifications: backlogs.reduce(0) { $0 + $1.notifications }, oldest: backlogs.compactMap(\.oldest).min())
    }

    public func backlogSize(of hub: Hub.ID?) async throws(StorageError) -> BacklogSize {
        if let hub { return try await storage(of: hub).backlogSize(of: hub) }
        return try await fromAll { storage throws(StorageError) in try await storage.backlogSize(of: nil) }
            .reduce(into: BacklogSize(notifications: 0, bytes: 0)) { all, size in
                all.notifications += size.notifications
                all.bytes += size.bytes
            }
    }

    public func waitingRetries(limit: Int) async throws(StorageError) -> [LaneID: WaitingRetries] {
        try await fromAll { storage throws(StorageError) in try await storage.waitingRetries(limit: limit) }
            .reduce(into: [:]) { all, lanes in all.merge(lanes) { first, _ in first } }
    }

    public func waitingParts() async throws(StorageError) -> WaitingParts {
        let parts = try await fromAll { storage throws(StorageError) in try await storage.waitingParts() }
        return WaitingParts(count: parts.reduce(0) { $0 + $1.count }, nextDue: parts.compactMap(\.nextDue).min())
    }

    public var waitingWrites: Int {
        members.reduce(home.waitingWrites) { $0 + ((try? $1.storage)?.waitingWrites ?? 0) }
    }

    public var writeTimes: WriteTimes {
        var times = home.writeTimes
        for member in members {
            guard let others = (try? member.storage)?.writeTimes else { continue }
            times.wait.add(others.wait)
            times.commit.add(others.commit)
        }
        return times
    }
}

extension ClusteredStorage: HubStore {
    public func hubs() async throws(StorageError) -> [Hub] {
        // The hubs are read after something has changed, which may be their clusters.
        try await refreshDirectory()
        return try await home.hubs()
    }

    public func createHub(
        name: String, settings: HubSettings, at now: Timestamp
    ) async throws(StorageError) -> Hub? {
        guard let hub = try await home.createHub(name: name, settings: settings, at: now) else { return nil }
        if cluster(hub.id) != 1 {
            _ = try await move(hub.id, toCluster: cluster(hub.id)) { _ in }
            _ = try await nodeStoreOfAll?.renew()
        }
        return hub
    }

    public func updateHub(
        _ id: Hub.ID, settings: HubSettings, replacing old: HubSettings, at now: Timestamp
    ) async throws(StorageError) -> HubUpdate {
        try await home.updateHub(id, settings: settings, replacing: old, at: now)
    }

    public func deleteHub(_ id: Hub.ID) async throws(StorageError) -> Bool {
        let route = try await home.route(of: id)
        guard route?.move == nil else {
            throw StorageError(
                .unavailable, "The hub is being moved to another cluster. Delete it when the move is done.")
        }
        guard let route, route.cluster != 1 else { return try await home.deleteHub(id) }
        guard try await home.markDeleted(id) else { return false }
        // If the hub's cluster cannot be reached now, the rows are removed later (`sweep`).
        try? await purge(deleted: id)
        return true
    }

    /// Removes everything of a deleted hub from all clusters. Its row in the first cluster comes last.
    private func purge(deleted id: Hub.ID) async throws(StorageError) {
        for storage in try all.reversed() { try await storage.purge(deleted: id) }
    }

    public func backendHub() async throws(StorageError) -> Hub.ID? { try await home.backendHub() }
    public func setBackendHub(_ id: Hub.ID) async throws(StorageError) { try await home.setBackendHub(id) }
    public func namespaceRules() async throws(StorageError) -> [AccessRule] { try await home.namespaceRules() }

    public func setNamespaceRules(
        _ rules: [AccessRule], replacing old: [AccessRule]
    ) async throws(StorageError) -> Bool {
        try await home.setNamespaceRules(rules, replacing: old)
    }
}
