import Synchronization

/// The hubs of a dispatcher that shares its storage with other processes (`HubOwnership`).
extension Dispatcher {
    /// Begins to send for the given hubs, for which no other process sends any more. Reads the deliveries, controls,
    /// pauses and quarantines of these hubs from the store.
    public func own(_ hubs: Set<Hub.ID>) async throws(StorageError) {
        let now = time.now
        for memory in try await store.persistedLaneStates(at: now) where hubs.contains(memory.lane.hub) {
            restore(memory, at: now)
        }
        try await controls.own(hubs)
        queue.withLock { $0.look(from: Delivery.ID(rawValue: 1)) }
        wake.yield()
        alarm.ring()
    }

    /// Stops sending for a hub, because another process sends for it now.
    public func disown(_ hub: Hub.ID) {
        ownership.remove(hub)
        board.stop(hub)
        forget(hub)
        hurry(hub)
    }

    /// Makes the queue add deliveries that another process has stored. This process sends for the hub of these
    /// deliveries.
    /// - Parameter first: The lowest id of these deliveries.
    public func look(for hub: Hub.ID, from first: Delivery.ID) {
        storedElsewhere.withLock { $0[hub] = min($0[hub] ?? first, first) }
        wake.yield()
    }

    /// Reads from the store everything that other processes may have changed about hubs that this process sends for:
    /// deliveries, controls and schedules.
    public func refresh(_ hubs: Set<Hub.ID>) async throws(StorageError) {
        queue.withLock { $0.look(from: Delivery.ID(rawValue: 1)) }
        wake.yield()
        try await refreshControls(of: hubs)
    }

    /// Reads from the store the controls and schedules that other processes may have changed, for hubs that this
    /// process sends for.
    public func refreshControls(of hubs: Set<Hub.ID>) async throws(StorageError) {
        for hub in try await controls.reload(hubs) { hurry(hub) }
        alarm.ring()
    }

    /// The number of notifications of which something is being sent or recorded.
    public var underWay: Int { board.underWayCount }

    /// Stops everything that is being sent, because the lease of this process has ended. Pushes that were not sent wait
    /// until the lease is renewed.
    public func leaseEnded() {
        board.stopAll()
    }

    /// Wakes the deliveries that have waited because the lease of this process had ended.
    public func leaseRenewed() {
        queue.withLock { $0.wakeAll() }
        wake.yield()
    }

    /// Reads the deliveries that other processes have stored, and adds them to the queue.
    func readStoredElsewhere() async {
        let hubs = storedElsewhere.withLock { hubs in
            defer { hubs = [:] }
            return hubs
        }
        for (hub, first) in hubs {
            do throws(StorageError) {
                let found = try await store.unfinished(
                    after: Delivery.ID(rawValue: first.rawValue - 1), limit: Self.portion)
                queue.withLock { queue in
                    for progress in found where progress.delivery.lane.hub == hub {
                        queue.addStored(progress.delivery)
                    }
                    if found.count == Self.portion, let last = found.last?.delivery.id {
                        queue.look(from: Delivery.ID(rawValue: last.rawValue + 1))
                    }
                }
            } catch {
                log("Deliveries that another node has stored could not be read: \(error)")
                queue.withLock { $0.look(from: first) }
            }
        }
        wake.yield()
    }
}
