import MartletConsole
import MartletCore
import MartletHTTP
import MartletModel
import Synchronization

/// Runs this process as one of the nodes of a shared database. It renews the lease of this node, reads what other nodes
/// have changed, and begins or ends sending for a hub when the owner of the hub changes.
///
/// If the lease is not renewed in time, this node stops sending until it has renewed the lease. If other nodes have
/// taken over its hubs by then, the process restarts itself.
final class NodeService: Sendable {
    /// The parts of the server that must know what other nodes have changed.
    struct Parts: Sendable {
        let store: any NodeStore
        let ownership: HubOwnership
        let lease: SendingLease
        let hubs: HubDirectory
        let operators: OperatorDirectory
        let dispatcher: Dispatcher
        let jobs: JobRunner
        let time: ServerTime
        let log: Log
        /// Restarts the process.
        var restart: @Sendable () -> Void = { ProcessRestart.request() }
    }

    /// The events that `act(on:)` has yet to handle.
    private struct News {
        var renewal: NodeRenewal?
        /// Whether a hint says that hubs, rules of the namespace or operators have changed.
        var isDirectoryOld = false
        /// The hubs whose controls, schedules or jobs have changed, according to a hint.
        var controlled: Set<Hub.ID> = []
        /// The hubs for which hints were lost, each with the number of its last change.
        var missing: [Hub.ID: Int64] = [:]
        /// Whether the connection for hints was broken.
        var areHintsLost = false
        /// Whether jobs may have stopped because the database did not answer for a while.
        var areJobsDoubtful = false

        var isEmpty: Bool {
            renewal == nil && !isDirectoryOld && controlled.isEmpty && missing.isEmpty && !areHintsLost
                && !areJobsDoubtful
        }
    }

    private struct State {
        var news = News()
        var changes = HubChanges()
        /// `numbers`: the number of the last change of each hub, from the last renewal. `since`: the time when that
        /// renewal was handled. The value is nil once `findMissingHints` has compared the numbers with the hints that
        /// have arrived.
        var expected: (numbers: [Hub.ID: Int64], since: ContinuousClock.Instant)?
        /// `NodeRenewal.directoryVersion` at the last read of hubs and operators; nil before the first.
        var directoryVersion: Int64?
        /// When the request for the last successful renewal was made; nil before the first.
        var renewedAt: ContinuousClock.Instant?
        /// Why the last renewal failed; nil if it succeeded.
        var failure: String?
        var liveNodes = 0
        var clusters: [ClusterState] = []
        var hubs = 0
        var takeovers = 0
        var selfFences = 0
        /// Whether sending has stopped because the lease has ended.
        var isFenced = false
        /// Whether the process is stopping, so that it must not restart.
        var isStopping = false
        /// The hubs that this process has created and does not send for yet.
        var created: Set<Hub.ID> = []
    }

    /// The figures of this node, for the metrics.
    struct Figures: Sendable {
        var incarnation: Int64
        var liveNodes: Int
        /// The numbers of the clusters, and whether this node reaches them; empty if there is only one.
        var clusters: [(number: Int, isUp: Bool)]
        var hubs: Int
        var takeovers: Int
        var selfFences: Int
        var refusedRecords: Int
        /// The time since the request for the last successful renewal was made; nil if there was none.
        var sinceRenewal: Duration?
        /// How far the database's clock is ahead of the machine's clock; zero if they differ by less than about a
        /// second.
        var clockDifference: Duration
    }

    private static let interval = Duration.seconds(1)
    /// How much earlier this process regards its lease as ended than the database does.
    private static let margin = Duration.seconds(2)
    /// How often this process checks whether the lease has ended, and whether hints are missing. Senders check the
    /// lease much more often (`SendingLease`).
    private static let watchInterval = Duration.milliseconds(200)
    /// How long after a renewal this process waits for missing hints before it regards them as lost.
    private static let hintPatience = Duration.milliseconds(150)

    let store: any NodeStore
    private let parts: Parts
    private let state = Mutex(State())
    private let renewals: AsyncStream<Void>
    private let renewSoon: AsyncStream<Void>.Continuation
    private let news: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init(_ parts: Parts) {
        self.parts = parts
        store = parts.store
        (renewals, renewSoon) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (news, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Runs until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.renewAgainAndAgain() }
            group.addTask { await self.readHints() }
            group.addTask { await self.watch() }
            group.addTask { await self.actOnNews() }
        }
    }

    /// Gives the hubs of this node to the other nodes. Must be called only after all sending has ended.
    func leave() async {
        willStop()
        parts.lease.revoke()
        do throws(StorageError) {
            try await store.leave()
        } catch {
            parts.log.write(
                .warning, "The other nodes take over only when the lease of this node has ended: \(error)")
        }
    }

    /// Records that the process is stopping, so that it does not restart.
    func willStop() {
        state.withLock { $0.isStopping = true }
    }

    /// Asks for a renewal at once, so that this node soon begins to send for a hub that it has created.
    func created(_ hub: Hub.ID) {
        state.withLock { _ = $0.created.insert(hub) }
        renewSoon.yield()
    }

    /// The reason why this node sends nothing; nil if it sends.
    var obstacle: String? {
        guard parts.lease.hasEnded else { return nil }
        let (renewedAt, failure) = state.withLock { ($0.renewedAt, $0.failure) }
        let reason = failure.map { " \($0)" } ?? ""
        guard let renewedAt else {
            return "This node sends nothing yet, because it has no lease of the database.\(reason)"
        }
        let seconds = (ContinuousClock.now - renewedAt).components.seconds
        return "This node sends nothing, because it has not renewed its lease for \(seconds) seconds.\(reason)"
    }

    /// A sentence that names the clusters that this node does not reach; nil if it reaches all.
    var clusterNote: String? {
        let away = state.withLock { $0.clusters.filter { $0.obstacle != nil } }
        guard !away.isEmpty else { return nil }
        return away.map { "Cluster \($0.number) is away, and its hubs stand still: \($0.obstacle ?? "")" }
            .joined(separator: " ")
    }

    /// `clusterNote` for anyone who asks. It names no address of a database.
    var publicClusterNote: String? {
        let away = state.withLock { $0.clusters.filter { $0.obstacle != nil } }
        guard !away.isEmpty else { return nil }
        return "Some clusters are away, and their hubs stand still. The server's log and 'martlet health' say why."
    }

    var figures: Figures {
        state.withLock { state in
            Figures(
                incarnation: store.incarnation, liveNodes: state.liveNodes,
                clusters: state.clusters.map { cluster in
                    // The renewal that failed is that in the first cluster.
                    (cluster.number, cluster.number == 1 ? state.failure == nil : cluster.obstacle == nil)
                },
                hubs: state.hubs,
                takeovers: state.takeovers, selfFences: state.selfFences, refusedRecords: store.refusedRecords,
                sinceRenewal: state.renewedAt.map { .now - $0 }, clockDifference: parts.time.difference)
        }
    }

    // MARK: The lease

    private func renewAgainAndAgain() async {
        await withTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    self.renewSoon.yield()
                    try? await Task.sleep(for: Self.interval, clock: .continuous)
                }
            }
            var hasFailed = false
            for await _ in renewals {
                let asked = ContinuousClock.now
                do throws(StorageError) {
                    took(try await store.renew(), askedAt: asked, afterFailure: hasFailed)
                    hasFailed = false
                } catch {
                    if error.kind == .locked {
                        startAnew()
                        return group.cancelAll()
                    }
                    // The failure is logged once. The next message says that the lease has ended, or that it was
                    // renewed.
                    if !hasFailed { parts.log.write(.warning, "The lease of this node could not be renewed: \(error)") }
                    hasFailed = true
                    state.withLock { $0.failure = error.detail }
                }
            }
        }
    }

    private func took(_ renewal: NodeRenewal, askedAt asked: ContinuousClock.Instant, afterFailure: Bool) {
        if parts.time.follow(renewal.databaseTime, readWithin: .now - asked) { parts.time.report(to: parts.log) }
        report(renewal.clusters)
        let asked = asked - renewal.age
        // Hubs that are lost are stopped before the lease gets longer, because the lease may have been short because of
        // them. `act(on:)` does it once more, in order with what it has gained.
        for hub in parts.ownership.all.subtracting(renewal.hubs.keys) { disown(hub) }
        let hadEnded = parts.lease.extend(until: asked + store.leaseDuration - Self.margin)
        // If the answer arrived only after the new end of the lease, the lease counts as not renewed.
        guard !parts.lease.hasEnded else { return }
        let wasFenced = state.withLock { state in
            defer { state.isFenced = false }
            state.renewedAt = asked
            state.failure = nil
            state.liveNodes = renewal.liveNodes
            state.hubs = renewal.hubs.count
            state.news.renewal = renewal
            if hadEnded || afterFailure { state.news.areJobsDoubtful = true }
            return state.isFenced
        }
        if hadEnded { parts.dispatcher.leaseRenewed() }
        if wasFenced {
            parts.log.write(.warning, "This node has renewed its lease, and goes on sending.")
        }
        wake.yield()
    }

    /// Logs which clusters this node does not reach any more, and which it reaches again.
    private func report(_ clusters: [ClusterState]) {
        let before = state.withLock { state in
            defer { state.clusters = clusters }
            return state.clusters
        }
        for cluster in clusters {
            let known = before.first { $0.number == cluster.number }
            let fields: [String: JSON] = ["cluster": .integer(Int64(cluster.number))]
            if let obstacle = cluster.obstacle {
                guard known == nil || known?.obstacle == nil else { continue }
                parts.log.write(
                    .warning, "Cluster \(cluster.number) is away, and its hubs stand still: \(obstacle)", fields)
            } else if known?.obstacle != nil {
                parts.log.write(.info, "Cluster \(cluster.number) is back.", fields)
            }
        }
    }

    private func watch() async {
        while !Task.isCancelled {
            if parts.lease.hasEnded { stopSending() }
            findMissingHints()
            try? await Task.sleep(for: Self.watchInterval, clock: .continuous)
        }
    }

    private func findMissingHints() {
        let isMissing = state.withLock { state in
            guard let expected = state.expected, ContinuousClock.now - expected.since >= Self.hintPatience else {
                return false
            }
            state.expected = nil
            let missing = state.changes.missing(expected.numbers)
            for hub in missing { state.news.missing[hub] = expected.numbers[hub] }
            return !missing.isEmpty
        }
        if isMissing { wake.yield() }
    }

    private func stopSending() {
        let isNew = state.withLock { state in
            guard state.renewedAt != nil, !state.isFenced else { return false }
            state.isFenced = true
            state.selfFences += 1
            return true
        }
        guard isNew else { return }
        parts.dispatcher.leaseEnded()
        parts.log.write(
            .error,
            "This node stops sending, because it could not renew its lease in time. It goes on when it can, unless other "
                + "nodes have taken over.")
    }

    /// Restarts the process, unless it is stopping. Other nodes own this node's hubs now, so the memory of the process
    /// no longer agrees with the database.
    private func startAnew() {
        parts.lease.revoke()
        parts.dispatcher.leaseEnded()
        guard !state.withLock(\.isStopping) else { return }
        parts.log.write(
            .error,
            "The lease of this node has ended, and other nodes have taken its hubs over. The process starts anew.")
        parts.restart()
    }

    // MARK: What other nodes change

    private func readHints() async {
        for await hint in store.hints {
            switch hint {
            case .deliveries(let first, let hub, let change):
                guard parts.ownership.owns(hub) else { continue }
                parts.dispatcher.look(for: hub, from: first)
                state.withLock { $0.changes.hear(change, of: hub) }
                continue
            case .hub(let hub, let change):
                guard parts.ownership.owns(hub) else { continue }
                state.withLock { state in
                    state.changes.hear(change, of: hub)
                    state.news.controlled.insert(hub)
                }
            case .directory: state.withLock { $0.news.isDirectoryOld = true }
            case .lost: state.withLock { $0.news.areHintsLost = true }
            }
            wake.yield()
        }
    }

    private func actOnNews() async {
        for await _ in news {
            let news = state.withLock { state in
                defer { state.news = News() }
                return state.news
            }
            guard !news.isEmpty else { continue }
            do throws(StorageError) {
                try await act(on: news)
            } catch {
                parts.log.write(
                    .warning, "What other nodes have changed could not be read, and is read again: \(error)")
                // The news is kept. The next renewal, which usually comes within a second, leads to the next attempt.
                state.withLock { state in
                    state.news.isDirectoryOld = state.news.isDirectoryOld || news.isDirectoryOld
                    state.news.controlled.formUnion(news.controlled)
                    state.news.missing.merge(news.missing) { max($0, $1) }
                    state.news.areHintsLost = state.news.areHintsLost || news.areHintsLost
                    // The next renewal does not tell again of hubs that this node has begun to send for, and whose jobs
                    // could not be read.
                    state.news.areJobsDoubtful = true
                }
            }
        }
    }

    private func act(on news: News) async throws(StorageError) {
        // This node first stops sending for hubs that it has lost. It then reads the directory, and after that begins
        // to send for hubs that it has gained, because nothing can be sent for a hub that is not in the directory.
        let owned = parts.ownership.all
        let lost = news.renewal.map { owned.subtracting($0.hubs.keys) } ?? []
        for hub in lost { disown(hub) }
        try await refreshDirectory(news)
        if let renewal = news.renewal {
            let present = renewal.hubs.keys.filter { parts.hubs.hub($0) != nil }
            try await own(Set(present).subtracting(owned), renewal)
        }
        let mine = parts.ownership.all
        let old = news.areHintsLost ? mine : mine.intersection(news.missing.keys)
        if !old.isEmpty {
            try await parts.dispatcher.refresh(old)
            state.withLock { state in
                for (hub, change) in news.missing where old.contains(hub) { state.changes.read(hub, through: change) }
            }
        }
        if let renewal = news.renewal {
            let numbers = renewal.hubs.filter { mine.contains($0.key) }
            state.withLock { $0.expected = (numbers, .now) }
        }
        let controlled = news.controlled.subtracting(old).intersection(mine)
        if !controlled.isEmpty { try await parts.dispatcher.refreshControls(of: controlled) }
        if !old.isEmpty || !controlled.isEmpty || news.areJobsDoubtful { try await parts.jobs.resume() }
    }

    private func refreshDirectory(_ news: News) async throws(StorageError) {
        let version = news.renewal?.directoryVersion
        let known = state.withLock(\.directoryVersion)
        guard news.isDirectoryOld || news.areHintsLost || version.map({ $0 != known }) ?? false else { return }
        try await parts.hubs.refresh()
        try await parts.operators.refresh()
        if let version { state.withLock { $0.directoryVersion = version } }
    }

    private func own(_ hubs: Set<Hub.ID>, _ renewal: NodeRenewal) async throws(StorageError) {
        guard !hubs.isEmpty else { return }
        state.withLock { state in
            for hub in hubs { state.changes.read(hub, through: renewal.hubs[hub] ?? 0) }
        }
        try await parts.dispatcher.own(hubs)
        state.withLock { state in
            state.takeovers += hubs.subtracting(state.created).count
            state.created.subtract(hubs)
        }
        try await parts.jobs.resume()
        parts.log.write(
            .info, "This node sends for more hubs now.",
            ["hubs": .integer(Int64(hubs.count)), "all": .integer(Int64(parts.ownership.all.count))])
    }

    private func disown(_ hub: Hub.ID) {
        parts.dispatcher.disown(hub)
        parts.jobs.disown(hub)
        state.withLock { $0.changes.forget(hub) }
    }
}
