import MartletCore
import MartletModel

/// A shard that nothing is written to in a cluster, because it moves or has moved.
struct MovingShard: Hashable, Sendable {
    var hub: Hub.ID
    /// The token of the move.
    var move: Int64
}

extension PostgresStorage {
    func clusterDirectory() async throws(StorageError) -> ClusterDirectory {
        ClusterDirectory(try await read(ClusterDirectory.reading))
    }

    /// Reads where a hub is, past the memory of this node.
    /// - Returns: nil if there is no such hub.
    func route(of hub: Hub.ID) async throws(StorageError) -> ClusterDirectory.HubRoute? {
        let rows = try await read(Batch(ClusterStatements.route) { $0.add(hub.rawValue) })[0]
        guard rows.count == 1 else { return nil }
        return ClusterDirectory.HubRoute(
            cluster: rows[0].integer32(1), move: rows[0].optionalInteger(2), isQuiet: rows[0].bool(3))
    }

    /// Counts the hubs of each cluster.
    func hubCounts() async throws(StorageError) -> [Int32: Int] {
        let rows = try await read(Batch(ClusterStatements.counts))[0]
        return Dictionary(
            uniqueKeysWithValues: (0..<rows.count).map { (rows[$0].integer32(0), Int(rows[$0].integer(1))) })
    }

    /// Ends a move whose process is gone, so that it cannot complete any more. Called in the first cluster.
    /// - Returns: False if the move is still under way.
    func endMove(_ moving: MovingShard, _ schema: String) async throws(StorageError) -> Bool {
        let isEnded = try await transaction { connection, patience throws(DatabaseFailure) in
            let batch = Batch(ClusterStatements.tryLock) { $0.add(HubMoveLock.ofHub(moving.hub, schema)) }
            guard try connection.run(batch, patience)[0][0].bool(0) else { return false }
            var end = Batch(HubStatements.countDirectory)
            end.add(ClusterStatements.endMove) {
                $0.add(moving.hub.rawValue)
                $0.add(moving.move)
            }
            try connection.run(end, patience)
            return true
        }
        if isEnded { nodes.announce([.directory]) }
        return isEnded
    }

    /// The shards that nothing is written to in this cluster.
    func movingShards() async throws(StorageError) -> [MovingShard] {
        let rows = try await read(Batch(ClusterStatements.moving))[0]
        return (0..<rows.count).map {
            MovingShard(hub: Shard(number: rows[$0].integer32(0)).hub, move: rows[$0].integer(1))
        }
    }

    /// Lets a shard be written to again, because the move that stopped it has ended.
    func free(_ moving: MovingShard) async throws(StorageError) {
        try await transaction { connection, patience throws(DatabaseFailure) in
            var batch = Batch()
            for statement in [ClusterStatements.freeOrdinals, ClusterStatements.freeSendOrdinals] {
                batch.add(statement) {
                    $0.add(Shard(moving.hub).number)
                    $0.add(moving.move)
                }
            }
            try connection.run(batch, patience)
        }
    }

    /// Removes, in portions, the rows that a hub has left in this cluster when it moved away, or that a move which did
    /// not complete has copied here. Does nothing while a move of the hub is under way, or if there was another since.
    func removeRows(of moving: MovingShard, _ schema: String) async throws(StorageError) {
        for removal in HubStatements.removals {
            var removed = removal.portion
            while removed == removal.portion {
                removed = try await transaction { connection, patience throws(DatabaseFailure) in
                    var locking = Batch(ClusterStatements.tryLock) { $0.add(HubMoveLock.ofShard(moving.hub, schema)) }
                    locking.add(ClusterStatements.lockMoved) {
                        $0.add(Shard(moving.hub).number)
                        $0.add(moving.move)
                    }
                    let rows = try connection.run(locking, patience)
                    guard rows[0][0].bool(0), rows[1].count == 1 else { return 0 }
                    let batch = Batch(removal.statement) { $0.add(Shard(moving.hub).number) }
                    return try connection.run(batch, patience)[0].changes
                }
            }
        }
    }
}
