import MartletCore
import MartletModel
import Synchronization

/// This process as a node of each cluster. It has a lease in each, so that the fence of a hub is in the database of the
/// hub. To the server all of it is one lease, which is as old as the oldest of them.
final class ClusterNodes: NodeStore {
    private let storage: ClusteredStorage
    let hints: AsyncStream<NodeHint>
    private let renewals = Atomic(0)
    private let isSettling = Atomic(false)
    /// The version of the directory whose moves were settled last.
    private let settledVersion = Atomic(Int64(-1))

    init(_ storage: ClusteredStorage, hints: AsyncStream<NodeHint>) {
        self.storage = storage
        self.hints = hints
    }

    /// How long a renewal waits for the clusters besides the first. One that takes longer goes on beside it.
    private static let patience = Duration.seconds(1)
    /// After how many renewals shards are looked for that a move has left without writes.
    private static let lookInterval = 10

    var incarnation: Int64 { storage.home.nodes.incarnation }
    var leaseDuration: Duration { storage.home.nodes.leaseDuration }
    var refusedRecords: Int {
        storage.members.reduce(storage.home.nodes.refusedRecords) { count, member in
            count + ((try? member.storage)?.nodes.refusedRecords ?? 0)
        }
    }

    func databaseTime() async throws(StorageError) -> Timestamp { try await storage.home.nodes.databaseTime() }

    func leave() async throws(StorageError) {
        // A cluster that does not answer must not delay the others. If this fails, the lease there ends by itself.
        let others = storage.members.map { member in Task { try? await (try? member.storage)?.nodes.leave() } }
        try await storage.home.nodes.leave()
        for other in others { await other.value }
    }

    func nodes() async throws(StorageError) -> [NodeDescription] {
        var nodes = try await storage.home.nodes.nodes()
        for member in storage.members {
            guard let counts = try? await (try? member.storage)?.nodes.hubsByHome() else { continue }
            for index in nodes.indices { nodes[index].hubs += counts[nodes[index].incarnation] ?? 0 }
        }
        return nodes
    }

    func renew() async throws(StorageError) -> NodeRenewal {
        let asked = ContinuousClock.now
        var renewal = try await storage.home.nodes.renew()
        // Only now: a node that has lost the first cluster sends nothing, so it must not keep its hubs in the others.
        let members = storage.members
        let tasks = members.map { member in Task { await member.renew() } }
        let isNew = renewal.directoryVersion != storage.directory.version
        if isNew {
            do throws(StorageError) {
                try await storage.refreshDirectory()
            } catch {
                // With one cluster the directory decides nothing, and is read again with the next renewal.
                guard members.isEmpty else { throw error }
            }
        }
        storage.confirmDirectory(at: asked)
        await Self.wait(for: tasks, atMost: Self.patience)
        let count = renewals.add(1, ordering: .relaxed).newValue
        let isMoving = storage.directory.routes.values.contains { $0.move != nil }
        let isUnsettled = storage.directory.version != settledVersion.load(ordering: .relaxed)
        if !storage.members.isEmpty, isUnsettled || isMoving || count % Self.lookInterval == 0 { settleMoves() }
        // The directory may have brought others.
        let current = storage.members
        if !current.isEmpty {
            let others = current.compactMap { member -> ClusterState? in
                guard member.failure != nil || member.lease != nil else { return nil }
                return ClusterState(number: Int(member.number), obstacle: member.failure?.detail)
            }
            renewal.clusters = [ClusterState(number: 1, obstacle: nil)] + others
        }
        try merge(current, into: &renewal, asked)
        return renewal
    }

    /// Settles moves beside the renewal, which must not wait for it. What fails is tried again with a later renewal.
    private func settleMoves() {
        guard !isSettling.exchange(true, ordering: .acquiring) else { return }
        Task { [self] in
            let version = storage.directory.version
            if (try? await storage.settleMoves()) != nil { settledVersion.store(version, ordering: .relaxed) }
            isSettling.store(false, ordering: .releasing)
        }
    }

    /// Adds the hubs of the other clusters, and leaves out hubs that are on another cluster by now, or about to be.
    ///
    /// If a cluster does not answer, its hubs are left out before the lease there could have ended. Until then, the
    /// whole lease counts as no younger than that one.
    private func merge(
        _ members: [ClusterMember], into renewal: inout NodeRenewal, _ asked: ContinuousClock.Instant
    ) throws(StorageError) {
        let directory = storage.directory
        func sends(_ hub: Hub.ID, from cluster: Int32) -> Bool {
            let route = directory.routes[hub] ?? ClusterDirectory.HubRoute()
            return route.cluster == cluster && !route.isQuiet
        }
        renewal.hubs = renewal.hubs.filter { sends($0.key, from: 1) }
        var oldest = asked
        for member in members {
            if member.failure?.kind == .locked { throw PostgresNodes.replaced }
            guard let lease = member.takeLease(), lease.askedAt + leaseDuration / 2 > .now else { continue }
            let hubs = lease.hubs.filter { sends($0.key, from: member.number) }
            renewal.hubs.merge(hubs) { _, new in new }
            oldest = min(oldest, lease.askedAt)
        }
        renewal.age = asked - oldest
    }

    private static func wait(for tasks: [Task<Void, Never>], atMost limit: Duration) async {
        guard !tasks.isEmpty else { return }
        await withCheckedContinuation { caller in
            let first = First(caller)
            let timer = Task {
                try? await Task.sleep(for: limit)
                first.resume()
            }
            Task {
                for task in tasks { await task.value }
                first.resume()
                timer.cancel()
            }
        }
    }
}

/// Resumes a caller at the first of several events.
private final class First: Sendable {
    private let caller: Mutex<CheckedContinuation<Void, Never>?>

    init(_ caller: CheckedContinuation<Void, Never>) {
        self.caller = Mutex(caller)
    }

    func resume() {
        let waiting = caller.withLock { caller in
            defer { caller = nil }
            return caller
        }
        waiting?.resume()
    }
}
