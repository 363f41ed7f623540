import MartletModel
import Synchronization

/// Stores which members running deliveries have reached, if other processes may go on with these deliveries
/// (`ReachedStore`), and adds to the progress maps of this process what other processes have stored. Does nothing if
/// no other process can use the store.
///
/// The members are stored with each page and each round of retries, and about once a second while one is being sent.
final class SharedProgress: Sendable {
    private let store: (any ReachedStore)?
    private let maps: any ProgressMaps
    private let time: any TimeSource
    private let state = Mutex(State())

    private struct State {
        /// The deliveries whose maps have everything that is stored, with their hubs.
        var complete: [Delivery.ID: Hub.ID] = [:]
        /// The indices of the blocks with members of the pages and retries of each current turn.
        var turns: [Delivery.ID: Set<Int64>] = [:]
    }

    /// How often the members of a page that is being sent are stored.
    private static let interval = Duration.seconds(1)

    /// - Parameter store: nil if no other process can go on with deliveries of this process.
    init(store: (any ReachedStore)?, maps: any ProgressMaps, time: any TimeSource) {
        self.store = store
        self.maps = maps
        self.time = time
    }

    /// The number of entries for deliveries. It is 0 if no delivery is unfinished.
    var count: Int { state.withLock { $0.complete.count + $0.turns.count } }

    /// Adds to the progress map of a delivery the members that another process, or an earlier one, has stored. Must be
    /// called before the first turn of the delivery in this process, because a stored block is replaced by that of the
    /// map.
    func complete(_ progress: DeliveryProgress) async throws(StorageError) {
        let delivery = progress.delivery
        guard let store, state.withLock({ $0.complete[delivery.id] == nil }) else { return }
        if progress.hasReached {
            let blocks = try await store.reached(by: delivery.id)
            let map = try maps.map(for: delivery.id, through: delivery.lastNumber)
            for block in blocks { map.insert(block) }
        }
        state.withLock { $0.complete[delivery.id] = delivery.lane.hub }
    }

    /// Returns the blocks with those of the given members that the delivery has reached, to be stored with a step.
    /// - Returns: nil if the delivery has reached none of the members, or if they are not stored before its end.
    func blocks(of members: [AudienceMember], in delivery: Delivery) throws(StorageError) -> ReachedBlocks? {
        guard store != nil, !members.isEmpty,
            let map = try maps.existingMap(for: delivery.id, through: delivery.lastNumber)
        else { return nil }
        let indices = Self.indices(of: members.lazy.filter { map.contains($0) })
        return indices.isEmpty ? nil : ReachedBlocks(indices.sorted(), of: map)
    }

    private static func indices(of members: some Sequence<AudienceMember>) -> Set<Int64> {
        var indices: Set<Int64> = []
        // Most members are in the same block as the one before them.
        var last: Int64?
        for member in members {
            let index = DeliveredBitmap.index(of: member.number)
            if index != last { indices.insert(index) }
            last = index
        }
        return indices
    }

    // MARK: While members are sent to

    /// Notes the members that a turn begins to send to, so that `storing` stores those of them that are reached.
    func begin(_ members: [AudienceMember], in delivery: Delivery) {
        guard store != nil, !members.isEmpty else { return }
        let indices = Self.indices(of: members)
        state.withLock { $0.turns[delivery.id, default: []].formUnion(indices) }
    }

    /// Runs the work of a turn, and meanwhile stores about once a second which members it has reached. If the work
    /// fails, stores once more what was reached and could not be recorded.
    func storing(
        of delivery: Delivery, _ work: () async throws(StorageError) -> Void
    ) async throws(StorageError) {
        guard let store else { return try await work() }
        let storing = Task { await self.storeRepeatedly(delivery, in: store) }
        var failure: StorageError?
        do throws(StorageError) {
            try await work()
        } catch {
            failure = error
        }
        storing.cancel()
        await storing.value
        if failure != nil { _ = try? await storeChanges(of: delivery, since: [:], in: store) }
        state.withLock { $0.turns[delivery.id] = nil }
        if let failure { throw failure }
    }

    private func storeRepeatedly(_ delivery: Delivery, in store: any ReachedStore) async {
        var stored: [Int64: DeliveredBitmap] = [:]
        while (try? await time.sleep(until: time.now + Self.interval)) != nil {
            // If the store fails, the next attempt comes in a second. The page itself is recorded in any case.
            stored = (try? await storeChanges(of: delivery, since: stored, in: store)) ?? stored
        }
    }

    /// Stores the blocks of the current turn that have changed.
    /// - Parameter stored: The blocks as the previous call has stored them.
    /// - Returns: The blocks as they are stored now.
    private func storeChanges(
        of delivery: Delivery, since stored: [Int64: DeliveredBitmap], in store: any ReachedStore
    ) async throws(StorageError) -> [Int64: DeliveredBitmap] {
        guard let indices = state.withLock({ $0.turns[delivery.id] }),
            let map = try maps.existingMap(for: delivery.id, through: delivery.lastNumber)
        else { return stored }
        let changed = map.blocks(at: indices.sorted()).filter { stored[$0.index] != $0 }
        guard !changed.isEmpty else { return stored }
        guard try await store.record(ReachedBlocks(changed.map(\.index), of: map), of: delivery.id) else {
            return stored
        }
        return stored.merging(changed.map { ($0.index, $0) }) { _, new in new }
    }

    // MARK: Forgetting

    /// Forgets a delivery that has ended.
    func forget(_ delivery: Delivery.ID) {
        guard store != nil else { return }
        state.withLock { _ = $0.complete.removeValue(forKey: delivery) }
    }

    /// Forgets the deliveries of a hub that was deleted, or that another process sends for now. If this process sends
    /// for the hub again later, it adds to its maps what the other has stored.
    func forget(_ hub: Hub.ID) {
        guard store != nil else { return }
        state.withLock { state in state.complete = state.complete.filter { $0.value != hub } }
    }
}
