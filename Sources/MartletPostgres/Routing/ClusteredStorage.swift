public import MartletCore
import MartletModel
import Synchronization

/// The storage of a server whose hubs are on one or several clusters of PostgreSQL.
///
/// Each cluster is a `PostgresStorage` of its own, with its own connections, nodes and leases. This type chooses the one
/// of a hub, by a directory in the first cluster, where everything is that belongs to no hub. No statement and no
/// transaction spans clusters. What concerns all hubs is read from each cluster, and put together.
///
/// Nodes learn of a hub that has moved with their next renewal at the latest. Until then their writes are refused by the
/// cluster that the hub has left.
public final class ClusteredStorage: Sendable {
    /// The first cluster.
    let home: PostgresStorage
    let schema: String
    let sealer: any Sealer
    private let address: DatabaseAddress
    private let options: PostgresStorage.Options
    private let places: ClusterPlaces
    private let state: Mutex<State>
    private let nodesOfAll = Mutex<ClusterNodes?>(nil)
    private let hints: AsyncStream<NodeHint>
    private let report: AsyncStream<NodeHint>.Continuation
    let quiet: HubMove.QuietTime
    /// Chooses the cluster of a new hub. Tests use it to spread hubs; otherwise hubs begin on the first cluster.
    let cluster: @Sendable (Hub.ID) -> Int

    private struct State {
        var directory: ClusterDirectory
        /// When the directory was last known to be right.
        var confirmedAt: ContinuousClock.Instant
        /// By number.
        var members: [ClusterMember] = []
        /// The rows that moves have left, and when they were first seen; nil once they are removed.
        var leftovers: [Int32: [MovingShard: ContinuousClock.Instant?]] = [:]
        var homeHints: Task<Void, Never>?
    }

    /// What a process remembers of its incarnations in the clusters.
    public struct ClusterPlaces: Sendable {
        /// The incarnations of the earlier process in the same data directory, by the numbers of the clusters. That
        /// process has ended.
        public var predecessors: [Int32: Int64]
        /// Stores the incarnations of this process.
        public var record: @Sendable ([Int32: Int64]) throws(StorageError) -> Void

        public init(
            predecessors: [Int32: Int64] = [:],
            record: @escaping @Sendable ([Int32: Int64]) throws(StorageError) -> Void = { _ in }
        ) {
            self.predecessors = predecessors
            self.record = record
        }
    }

    /// Opens the first cluster, brings its schema up to date, and opens those of the others that can be reached. The
    /// remaining ones are opened when they can be.
    /// - Parameters:
    ///   - address: The address of the first cluster.
    ///   - maps: Opens the progress maps of the node. It must keep the maps of the deliveries for which its argument
    ///     returns true.
    /// - Throws: `StorageError` if the first cluster cannot be used, with a sentence that says what to do.
    public static func open(
        _ address: DatabaseAddress, sealer: any Sealer, options: PostgresStorage.Options = .init(),
        places: ClusterPlaces = ClusterPlaces(),
        maps: @Sendable (_ isNeeded: @escaping (Delivery.ID) -> Bool) throws(StorageError) -> any ProgressMaps
    ) async throws(StorageError) -> ClusteredStorage {
        try await open(
            address, sealer: sealer, options: options, places: places, quiet: HubMove.QuietTime(), cluster: { _ in 1 },
            maps: maps)
    }

    static func open(
        _ address: DatabaseAddress, sealer: any Sealer, options: PostgresStorage.Options, places: ClusterPlaces,
        quiet: HubMove.QuietTime, cluster: @escaping @Sendable (Hub.ID) -> Int,
        maps: @Sendable (_ isNeeded: @escaping (Delivery.ID) -> Bool) throws(StorageError) -> any ProgressMaps
    ) async throws(StorageError) -> ClusteredStorage {
        var options = options
        options.predecessor = places.predecessors[1]
        let start = try await PostgresStorage.join(address, sealer, options)
        let directory = start.clusters
        var joined: [Int32: Result<(DatabaseAddress, NodeStart), StorageError>] = [:]
        for (number, sealed) in directory.addresses {
            do throws(StorageError) {
                let address = try Self.address(sealed, number, sealer)
                let options = try options.of(number, directory, start.incarnation, places)
                joined[number] = .success((address, try await PostgresStorage.join(address, sealer, options)))
            } catch {
                joined[number] = .failure(error)
            }
        }
        // While a cluster cannot be reached, it is not known which of its deliveries are unfinished.
        let unreachable = Set(joined.filter { (try? $0.value.get()) == nil }.keys)
        let unfinished = Set(
            start.unfinished + joined.values.flatMap { (try? $0.get())?.1.unfinished ?? [] })
        let maps = try maps { delivery in
            let hub = Shard(ofComposed: delivery.rawValue).hub
            return unfinished.contains(delivery) || unreachable.contains(directory.routes[hub]?.cluster ?? 1)
        }
        let home = PostgresStorage(address, options, start, sealer, maps)
        let storage = ClusteredStorage(
            home, address, sealer, options, places, directory, quiet, cluster)
        for number in joined.keys.sorted() {
            guard let result = joined[number] else { continue }
            try? storage.addMember(number, result)
        }
        try storage.recordIncarnations()
        return storage
    }

    private init(
        _ home: PostgresStorage, _ address: DatabaseAddress, _ sealer: any Sealer, _ options: PostgresStorage.Options,
        _ places: ClusterPlaces, _ directory: ClusterDirectory, _ quiet: HubMove.QuietTime,
        _ cluster: @escaping @Sendable (Hub.ID) -> Int
    ) {
        self.home = home
        self.address = address
        self.sealer = sealer
        self.options = options
        self.places = places
        self.quiet = quiet
        self.cluster = cluster
        schema = options.schema
        state = Mutex(State(directory: directory, confirmedAt: .now))
        (hints, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4096))
        let forwarding = Task { [report] in
            for await hint in home.nodes.hints { report.yield(hint) }
        }
        state.withLock { $0.homeHints = forwarding }
        nodesOfAll.withLock { $0 = ClusterNodes(self, hints: hints) }
    }

    /// Finishes the waiting writes, leaves the nodes and closes the connections.
    public func close() async {
        // A cluster that does not answer must not delay the others.
        let others = members.map { member in Task { await member.close() } }
        await home.close()
        for other in others { await other.value }
        state.withLock { $0.homeHints }?.cancel()
        report.finish()
        nodesOfAll.withLock { $0 = nil }
    }

    // MARK: Choosing a cluster

    /// The storage of a hub.
    /// - Throws: `StorageError` if its cluster cannot be reached.
    func storage(of hub: Hub.ID) throws(StorageError) -> PostgresStorage {
        let (route, member, isOld) = state.withLock { state in
            let route = state.directory.routes[hub]
            // With one cluster, there is nothing to choose.
            let isOld = !state.members.isEmpty && state.confirmedAt + options.lease < .now
            return (route, state.members.first { $0.number == route?.cluster }, isOld)
        }
        guard !isOld else { throw Self.doesNotKnow }
        guard let route, route.cluster != 1 else { return home }
        guard let member else { throw Self.unknown(route.cluster) }
        return try member.storage
    }

    func storage(of delivery: Delivery.ID) throws(StorageError) -> PostgresStorage {
        try storage(ofNumber: delivery.rawValue)
    }

    /// - Parameter number: The number of a notification or delivery.
    func storage(ofNumber number: Int64) throws(StorageError) -> PostgresStorage {
        try storage(of: Shard(ofComposed: number).hub)
    }

    /// The storage of a cluster.
    func storage(ofCluster number: Int32) throws(StorageError) -> PostgresStorage {
        guard number != 1 else { return home }
        guard let member = members.first(where: { $0.number == number }) else { throw Self.unknown(number) }
        return try member.storage
    }

    /// Reads from each cluster. The first must answer. Another that does not answer is left out, because its hubs stand
    /// still; when it answers again, everything is read anew (`NodeHint.lost`).
    func fromAll<Value: Sendable>(
        _ read: (PostgresStorage) async throws(StorageError) -> Value
    ) async throws(StorageError) -> [Value] {
        var values = [try await read(home)]
        for member in members {
            guard let storage = member.storageForRead() else { continue }
            do throws(StorageError) {
                values.append(try await read(storage))
            } catch {
                // A cluster that was removed, or has another address now, is closed while the server runs.
                guard error.kind != .closed || !members.contains(where: { $0 === member }) else { throw error }
                member.miss()
            }
        }
        return values
    }

    /// The storages of all clusters.
    /// - Throws: `StorageError` if a cluster cannot be reached.
    var all: [PostgresStorage] {
        get throws(StorageError) {
            var storages = [home]
            for member in members { storages.append(try member.storage) }
            return storages
        }
    }

    var members: [ClusterMember] { state.withLock(\.members) }
    var directory: ClusterDirectory { state.withLock(\.directory) }
    var nodeStoreOfAll: ClusterNodes? { nodesOfAll.withLock(\.self) }

    // MARK: The directory

    /// Reads the directory again, and uses the clusters that it has by the addresses that it has.
    func refreshDirectory() async throws(StorageError) {
        let asked = ContinuousClock.now
        let read = try await home.clusterDirectory()
        let isNewest = state.withLock { state in
            // Of two reads at the same time, the newer counts.
            guard read.version >= state.directory.version else { return false }
            state.directory = read
            state.confirmedAt = max(state.confirmedAt, asked)
            return true
        }
        guard isNewest else { return }
        // Another task may have read a newer directory meanwhile.
        while try updateMembers() != directory.version {}
    }

    /// Adds the clusters that are new, ends the use of those that were removed, and replaces those whose address has
    /// changed. Until the node has connected to the new address, requests about their hubs are refused.
    /// - Returns: The version of the directory that was used.
    private func updateMembers() throws(StorageError) -> Int64 {
        let directory = directory
        for member in members where directory.addresses[member.number] == nil { retire(member) }
        for (number, sealed) in directory.addresses {
            let address = try Self.address(sealed, number, sealer)
            let old = members.first { $0.number == number }
            guard old?.address != address else { continue }
            if let old { retire(old) }
            try addMember(number, nil, replacing: old)
        }
        return directory.version
    }

    private func retire(_ member: ClusterMember) {
        let isFirst = state.withLock { state in
            let count = state.members.count
            state.members.removeAll { $0 === member }
            return state.members.count < count
        }
        guard isFirst else { return }
        let patience = options.patience * 2
        Task { await member.retire(after: patience) }
    }

    /// Records that the directory is right as of a renewal.
    func confirmDirectory(at moment: ContinuousClock.Instant) {
        state.withLock { $0.confirmedAt = max($0.confirmedAt, moment) }
    }

    /// - Parameters:
    ///   - joined: What became of the attempt to join the nodes of the cluster; nil if there was none.
    ///   - old: The cluster with the address that it had until now.
    private func addMember(
        _ number: Int32, _ joined: Result<(DatabaseAddress, NodeStart), StorageError>?,
        replacing old: ClusterMember? = nil
    ) throws(StorageError) {
        let directory = directory
        guard let sealed = directory.addresses[number] else { return }
        let address = try Self.address(sealed, number, sealer)
        var options = try options.of(number, directory, home.nodes.incarnation, places)
        // This process has begun nothing with its lease at the other address that it goes on with.
        if let incarnation = (try? old?.storage)?.nodes.incarnation { options.predecessor = incarnation }
        let (sealer, maps) = (sealer, home.maps)
        let platforms: PostgresStorage.PlatformNumbering = { [home] platform async throws(StorageError) in
            guard let number = try await home.numbers(of: [platform])[platform] else {
                throw NumberCache.unknownPlatform
            }
            return number
        }
        var storage: PostgresStorage?
        var failure: StorageError?
        switch joined {
        case .success(let (_, start)):
            storage = PostgresStorage(address, options, start, sealer, maps, platforms: platforms)
        case .failure(let error): failure = error
        case nil: break
        }
        let member = ClusterMember(
            number, address, storage: storage, failure: failure, isReplacement: old != nil,
            report: { [report] in report.yield($0) },
            open: { [weak self, options] () async throws(StorageError) in
                let start = try await PostgresStorage.join(address, sealer, options)
                try self?.recordIncarnations(adding: (number, start.incarnation))
                return PostgresStorage(address, options, start, sealer, maps, platforms: platforms)
            })
        state.withLock { state in
            guard !state.members.contains(where: { $0.number == number }) else { return }
            state.members.append(member)
            state.members.sort { $0.number < $1.number }
        }
    }

    private func recordIncarnations(adding new: (number: Int32, incarnation: Int64)? = nil) throws(StorageError) {
        var incarnations = [Int32(1): home.nodes.incarnation]
        for member in members { incarnations[member.number] = (try? member.storage)?.nodes.incarnation }
        if let new { incarnations[new.number] = new.incarnation }
        try places.record(incarnations)
    }

    /// The address of a cluster.
    func address(of number: Int32) throws(StorageError) -> DatabaseAddress {
        guard number != 1 else { return address }
        guard let sealed = directory.addresses[number] else { throw Self.unknown(number) }
        return try Self.address(sealed, number, sealer)
    }

    private static func address(
        _ sealed: [UInt8], _ number: Int32, _ sealer: any Sealer
    ) throws(StorageError) -> DatabaseAddress {
        guard let bytes = sealer.open(sealed, context: "\(ClusterStatements.context)\(number)") else {
            throw StorageError(
                .corrupt,
                "The address of cluster \(number) cannot be opened with the secret key of this node. Give the node the key "
                    + "of the others.")
        }
        return try DatabaseAddress(String(decoding: bytes, as: UTF8.self))
    }

    static func unknown(_ cluster: Int32) -> StorageError {
        StorageError(
            .unavailable,
            "There is no cluster \(cluster), or this node does not know of it yet. 'martlet cluster list' shows those that "
                + "there are.")
    }

    private static let doesNotKnow = StorageError(
        .unavailable,
        "This node does not know on which cluster the hub is, because it cannot reach the first cluster. Try again.")
}

extension ClusteredStorage {
    /// How long rows stay that a hub has left in a cluster. Nodes that do not know of the move may read them. After a
    /// lease they know, or answer nothing.
    private static let leftoverAge = Duration.seconds(30)

    /// Ends moves whose process is gone, and lets the shards be written to that they have stopped or, if they have
    /// completed, not freed yet.
    func settleMoves() async throws(StorageError) {
        for (hub, route) in directory.routes {
            guard let move = route.move else { continue }
            _ = try await home.endMove(MovingShard(hub: hub, move: move), schema)
        }
        let known = directory.routes
        try await forMovingShards { cluster, storage, moving throws(StorageError) in
            // Most of these shards are what hubs have left. Memory says so, without a question for each.
            guard known[moving.hub]?.cluster ?? 1 == cluster else { return }
            // The token was set before the shard was stopped. So a hub without it now has no such move any more.
            let route = try await self.home.route(of: moving.hub)
            if let route, route.cluster == cluster, route.move != moving.move { try await storage.free(moving) }
        }
    }

    /// Removes the rows that moves have left, once no node reads them any more.
    func removeLeftovers(olderThan age: Duration = leftoverAge) async throws(StorageError) {
        try await forMovingShards { cluster, storage, moving throws(StorageError) in
            let route = try await self.home.route(of: moving.hub)
            guard route.map({ $0.cluster != cluster && $0.move == nil }) ?? true else { return }
            let seen = self.state.withLock { state in
                let seen = state.leftovers[cluster, default: [:]][moving] ?? .some(.now)
                state.leftovers[cluster, default: [:]][moving] = seen
                return seen
            }
            guard let seen, seen + age <= .now else { return }
            try await storage.removeRows(of: moving, self.schema)
            self.state.withLock { $0.leftovers[cluster]?[moving] = .some(nil) }
        }
    }

    /// Calls `each` with the shards that nothing is written to in a cluster.
    private func forMovingShards(
        _ each: (Int32, PostgresStorage, MovingShard) async throws(StorageError) -> Void
    ) async throws(StorageError) {
        var clusters = [(Int32(1), home)]
        for member in members {
            if let storage = member.storageForRead() { clusters.append((member.number, storage)) }
        }
        for (number, storage) in clusters {
            for moving in try await storage.movingShards() { try await each(number, storage, moving) }
        }
    }
}

extension PostgresStorage.Options {
    /// The options with which this node opens another cluster.
    func of(
        _ number: Int32, _ directory: ClusterDirectory, _ incarnation: Int64,
        _ places: ClusteredStorage.ClusterPlaces
    ) throws(StorageError) -> PostgresStorage.Options {
        guard let home = directory.home else {
            throw StorageError(.corrupt, "The first cluster has lost its identity; restore a backup.")
        }
        var options = self
        options.predecessor = places.predecessors[number]
        options.place = ClusterPlace(number: number, home: home, incarnation: incarnation)
        return options
    }
}
