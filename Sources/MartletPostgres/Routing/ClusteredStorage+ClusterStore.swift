public import MartletCore
public import MartletModel

extension ClusteredStorage: ClusterStore {
    public func clusters() async throws(StorageError) -> [ClusterDescription] {
        try await refreshDirectory()
        let counts = try await home.hubCounts()
        var clusters = [
            ClusterDescription(
                number: 1, address: try address(of: 1).description, hubs: counts[1] ?? 0, obstacle: nil)
        ]
        for member in members {
            clusters.append(
                ClusterDescription(
                    number: Int(member.number), address: member.address.description, hubs: counts[member.number] ?? 0,
                    obstacle: member.failure?.detail))
        }
        return clusters
    }

    public func addCluster(_ address: String, at now: Timestamp) async throws(StorageError) -> ClusterAddition {
        let parsed = try DatabaseAddress(address)
        let identity = try await identity()
        let found = try await examine(parsed)
        try await refreshDirectory()
        let number: Int32
        if let owner = found.home {
            guard owner == identity else { throw Self.isOfAnother(parsed) }
            guard found.number != 1 else {
                throw StorageError(.unavailable, "\(parsed) is the first cluster itself.")
            }
            number = found.number
        } else {
            guard !found.isInUse else { throw Self.isInUse(parsed) }
            // An attempt that was interrupted may have stored the address already.
            var known: Int32?
            for candidate in directory.addresses.keys where text(ofAddress: candidate) == address { known = candidate }
            if let known {
                let hubs = try await home.hubCounts()[known] ?? 0
                guard hubs == 0 else { throw Self.isLost(parsed, known, hubs) }
                number = known
            } else {
                number = try await nextNumber()
            }
        }
        let isNew = directory.addresses[number] == nil
        // First the number, then the mark in the database: a database with a mark is always known.
        let sealed = try sealer.seal(Array(address.utf8), context: "\(ClusterStatements.context)\(number)")
        try await home.changeDirectory { connection, patience throws(DatabaseFailure) in
            let batch = Batch(ClusterStatements.put) {
                $0.add(number)
                $0.add(sealed)
                $0.add(now)
            }
            try connection.run(batch, patience)
        }
        if found.home == nil { try await mark(parsed, number, identity) }
        try await refreshDirectory()
        return ClusterAddition(number: Int(number), isNew: isNew)
    }

    public func removeCluster(_ number: Int) async throws(StorageError) {
        guard number != 1 else {
            throw StorageError(.unavailable, "The first cluster cannot be removed: it has what belongs to no hub.")
        }
        try await refreshDirectory()
        guard let cluster = Int32(exactly: number), directory.addresses[cluster] != nil else {
            throw Self.unknown(Int32(exactly: number) ?? .max)
        }
        let isRemoved = try await home.changeDirectory { connection, patience throws(DatabaseFailure) in
            try connection.run(Batch(ClusterStatements.remove) { $0.add(cluster) }, patience)[0].changes == 1
        }
        guard isRemoved else {
            throw StorageError(
                .unavailable,
                "Hubs are on cluster \(number), or a hub that was deleted has left rows there. Move the hubs to another "
                    + "cluster before ('martlet cluster list'); the rows are removed when the cluster answers.")
        }
        try await refreshDirectory()
    }

    public func move(
        _ hub: Hub.ID, toCluster number: Int, report: @escaping @Sendable (HubMoveProgress) -> Void
    ) async throws(StorageError) -> HubMoveProgress {
        try await move(hub, toCluster: number, isKilled: { _ in false }, report: report)
    }

    /// - Parameter isKilled: Whether the move ends after a step, as if its process had been killed.
    func move(
        _ hub: Hub.ID, toCluster number: Int, isKilled: @escaping @Sendable (HubMove.Step) -> Bool,
        report: @escaping @Sendable (HubMoveProgress) -> Void = { _ in }
    ) async throws(StorageError) -> HubMoveProgress {
        guard let target = Int32(exactly: number), target >= 1 else { throw Self.unknown(.max) }
        try await refreshDirectory()
        guard let route = try await home.route(of: hub) else {
            throw StorageError(.unavailable, "The hub was deleted.")
        }
        guard route.cluster != target else {
            throw StorageError(.unavailable, "The hub is on cluster \(number) already.")
        }
        let plan = HubMove.Plan(
            hub: hub, source: route.cluster, target: target,
            addresses: (try address(of: 1), try address(of: route.cluster), try address(of: target)), schema: schema,
            quiet: quiet, isKilled: isKilled)
        let progress = try await onThread { () throws(StorageError) in try HubMove(plan, report: report).run() }
        try? await refreshDirectory()
        return progress
    }

    // MARK: Adding

    /// What a database says about itself before it becomes a cluster.
    private struct Candidate: Sendable {
        var number: Int32
        var home: Int64?
        var isInUse: Bool
    }

    /// Identifies the first cluster, from now on.
    private func identity() async throws(StorageError) -> Int64 {
        let new = Int64.random(in: 1 ... .max)
        let old = try await home.transaction { connection, patience throws(DatabaseFailure) in
            var batch = Batch(ClusterStatements.setHome) { $0.add(new) }
            batch.add(ClusterStatements.version)
            batch.add(ClusterStatements.olderNodes) { $0.add(Int32(Migration.all.count)) }
            let rows = try connection.run(batch, patience)
            return (identity: rows[1][0].integer(1), older: rows[2][0].integer(0))
        }
        guard old.older == 0 else {
            throw StorageError(
                .unavailable,
                "A node of an earlier version is alive, and knows of no clusters. Upgrade all nodes first.")
        }
        return old.identity
    }

    private func nextNumber() async throws(StorageError) -> Int32 {
        try await home.read(Batch(ClusterStatements.lastNumber))[0][0].integer32(0)
    }

    private func text(ofAddress number: Int32) -> String? {
        guard let sealed = directory.addresses[number] else { return nil }
        return sealer.open(sealed, context: "\(ClusterStatements.context)\(number)").map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Makes or upgrades the schema in a database, and checks whether the database can be a cluster.
    private func examine(_ address: DatabaseAddress) async throws(StorageError) -> Candidate {
        let settings = ConnectionSettings(address: address, schema: schema)
        let sealer = sealer
        return try await onThread { () throws(StorageError) in
            let patience = Connection.Patience.until(.now + .seconds(60))
            let connection = try MoveSession.attempt { () throws(DatabaseFailure) in try settings.connect() }
            let check = try MoveSession.attempt { () throws(DatabaseFailure) in
                try ServerCheck(connection, patience)
            }
            if let fault = check.fault(of: address) { throw fault }
            try Migrator(migrations: Migration.all, schema: settings.schema).migrate(connection, patience)
            let rows = try MoveSession.attempt { () throws(DatabaseFailure) in
                try connection.run(Batch(ClusterStatements.use), patience)[0]
            }
            let row = rows[0]
            let candidate = Candidate(
                number: row.integer32(4), home: row.optionalInteger(5),
                isInUse: row.integer(0) + row.integer(1) + row.integer(2) > 0 || row.optionalText(3) != nil)
            guard candidate.home == nil, !candidate.isInUse else { return candidate }
            let fault = try MoveSession.attempt { () throws(DatabaseFailure) in
                try KeyCheck(sealer: sealer).check(connection, patience)
            }
            if let fault { throw fault }
            return candidate
        }
    }

    private func mark(_ address: DatabaseAddress, _ number: Int32, _ home: Int64) async throws(StorageError) {
        let settings = ConnectionSettings(address: address, schema: schema)
        try await onThread { () throws(StorageError) in
            try MoveSession.attempt { () throws(DatabaseFailure) in
                let batch = Batch(ClusterStatements.setPlace) {
                    $0.add(number)
                    $0.add(home)
                }
                try settings.connect().run(batch, .until(.now + settings.patience))
            }
        }
    }

    /// Runs work that blocks, on a thread of its own.
    private func onThread<Value: Sendable>(
        _ work: @escaping @Sendable () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let thread = DatabaseThread()
        let result: Result<Value, StorageError> = await withCheckedContinuation { caller in
            thread.perform {
                do throws(StorageError) {
                    caller.resume(returning: .success(try work()))
                } catch {
                    caller.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    private static func isInUse(_ address: DatabaseAddress) -> StorageError {
        StorageError(
            .unavailable,
            "\(address) has hubs, nodes or clusters of its own. A cluster begins as an empty database: make another one."
        )
    }

    private static func isLost(_ address: DatabaseAddress, _ number: Int32, _ hubs: Int) -> StorageError {
        StorageError(
            .unavailable,
            "\(address) is empty, but it is the address of cluster \(number), which has hubs (\(hubs)). Restore the backup "
                + "of the cluster there; the nodes use it by themselves.")
    }

    private static func isOfAnother(_ address: DatabaseAddress) -> StorageError {
        StorageError(.unavailable, "\(address) is a cluster of another server. Name another database.")
    }
}
