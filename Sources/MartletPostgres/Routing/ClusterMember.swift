import MartletCore
import MartletModel
import Synchronization

/// A cluster besides the first, as this node uses it. While it cannot be reached, only its own hubs stand still.
final class ClusterMember: Sendable {
    let number: Int32
    let address: DatabaseAddress
    private let open: @Sendable () async throws(StorageError) -> PostgresStorage
    /// Receives the hints of the cluster.
    private let report: @Sendable (NodeHint) -> Void
    private let state = Mutex(State())

    /// What a renewal in this cluster has answered.
    struct Lease: Sendable {
        var hubs: [Hub.ID: Int64]
        /// When the renewal was asked for.
        var askedAt: ContinuousClock.Instant
    }

    private struct State {
        var storage: PostgresStorage?
        var lease: Lease?
        var backlog: BacklogSize?
        var failure: StorageError?
        var isRenewing = false
        var isReadingBacklog = false
        var isClosed = false
        /// Whether something was read from all clusters but this one. Then everything must be read again once the cluster
        /// is there, as after the loss of hints.
        var wasMissed = false
        /// Whether the hubs of this cluster must be left out of the next renewal.
        var mustBeLeftOut = false
        var hints: Task<Void, Never>?
    }

    /// - Parameters:
    ///   - storage: The storage, if it is open already.
    ///   - failure: The reason why it is not.
    ///   - isReplacement: Whether the node has used the cluster by another address until now.
    ///   - open: Connects to the cluster, and makes this process one of its nodes.
    init(
        _ number: Int32, _ address: DatabaseAddress, storage: PostgresStorage?, failure: StorageError?,
        isReplacement: Bool, report: @escaping @Sendable (NodeHint) -> Void,
        open: @escaping @Sendable () async throws(StorageError) -> PostgresStorage
    ) {
        self.number = number
        self.address = address
        self.report = report
        self.open = open
        state.withLock { state in
            state.failure = failure
            (state.wasMissed, state.mustBeLeftOut) = (isReplacement, isReplacement)
        }
        if let storage { adopt(storage) }
    }

    /// The storage of the cluster.
    /// - Throws: The reason why there is none.
    var storage: PostgresStorage {
        get throws(StorageError) {
            let (storage, failure) = state.withLock { ($0.storage, $0.failure) }
            guard let storage else {
                var reason = failure ?? Self.notThereYet
                reason.cause = .clusterAway
                throw reason
            }
            return storage
        }
    }

    /// The reason why the cluster does not answer; nil if it does.
    var failure: StorageError? { state.withLock(\.failure) }

    /// The last renewal in this cluster; nil if there was none.
    var lease: Lease? { state.withLock(\.lease) }

    /// Returns the last renewal for the lease of all clusters. If this member replaces another, the first answer is
    /// nil. So the node gives up the hubs that it had by the other address, with all that it has in memory, before it
    /// gets them anew.
    func takeLease() -> Lease? {
        state.withLock { state in
            guard !state.mustBeLeftOut else {
                state.mustBeLeftOut = false
                return nil
            }
            return state.lease
        }
    }

    /// The size of the backlog of the cluster's hubs as of the last renewal; nil if it is not known.
    var backlog: BacklogSize? { state.withLock(\.backlog) }

    /// Returns the storage for a read from all clusters; nil while the cluster does not answer, which is then
    /// recorded as by `miss`.
    func storageForRead() -> PostgresStorage? {
        state.withLock { state in
            guard state.failure == nil, let storage = state.storage else {
                state.wasMissed = true
                return nil
            }
            return storage
        }
    }

    /// Records that the cluster was left out of a read from all clusters.
    func miss() { state.withLock { $0.wasMissed = true } }

    /// Renews the lease of this process in the cluster, and connects first if need be. Does nothing if a renewal is
    /// under way.
    func renew() async {
        let isFirst = state.withLock { state in
            guard !state.isRenewing, !state.isClosed else { return false }
            state.isRenewing = true
            return true
        }
        guard isFirst else { return }
        let asked = ContinuousClock.now
        do throws(StorageError) {
            let storage: PostgresStorage
            if let known = state.withLock(\.storage) {
                storage = known
            } else {
                storage = try await open()
                adopt(storage)
            }
            let hubs = try await storage.nodes.renew().hubs
            end(.success(Lease(hubs: hubs, askedAt: asked)))
            readBacklog(of: storage)
        } catch {
            end(.failure(error))
        }
    }

    /// Reads the size of the backlog beside the renewal, which must not wait for the connection of look-ups.
    private func readBacklog(of storage: PostgresStorage) {
        let isFirst = state.withLock { state in
            guard !state.isReadingBacklog else { return false }
            state.isReadingBacklog = true
            return true
        }
        guard isFirst else { return }
        Task { [self] in
            let size = try? await storage.backlogOfAll()
            state.withLock { state in
                state.backlog = size ?? state.backlog
                state.isReadingBacklog = false
            }
        }
    }

    /// Leaves the nodes of the cluster at once, because the cluster has another address or was removed. Closes the
    /// storage when what has begun with it has ended.
    func retire(after patience: Duration) async {
        let storage = state.withLock { state in
            state.isClosed = true
            return state.storage
        }
        try? await storage?.nodes.leave()
        try? await Task.sleep(for: patience)
        await close()
    }

    /// Closes the storage, after leaving the nodes of the cluster.
    func close() async {
        let (storage, hints) = state.withLock { state in
            state.isClosed = true
            return (state.storage, state.hints)
        }
        await storage?.close()
        hints?.cancel()
    }

    private func end(_ result: Result<Lease, StorageError>) {
        let wasMissed = state.withLock { state in
            state.isRenewing = false
            switch result {
            case .success(let lease):
                (state.lease, state.failure) = (lease, nil)
                defer { state.wasMissed = false }
                return state.wasMissed
            case .failure(let failure):
                state.failure = failure
                return false
            }
        }
        if wasMissed { report(.lost) }
    }

    private func adopt(_ storage: PostgresStorage) {
        let hints = Task { [report] in
            for await hint in storage.nodes.hints { report(hint) }
        }
        let isClosed = state.withLock { state in
            (state.storage, state.hints) = (storage, hints)
            return state.isClosed
        }
        if isClosed { Task { await close() } }
    }

    private static let notThereYet = StorageError(
        .unavailable, "The cluster of the hub is not connected yet. Try again in a few seconds.")
}
