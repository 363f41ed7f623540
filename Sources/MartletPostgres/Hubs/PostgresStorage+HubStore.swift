public import MartletCore
public import MartletModel

extension PostgresStorage: HubStore {
    public func hubs() async throws(StorageError) -> [Hub] {
        let rows = try await read(Batch(HubStatements.list))[0]
        var hubs: [Hub] = []
        for index in 0..<rows.count {
            let row = rows[index]
            let id = Hub.ID(rawValue: row.integer(0))
            let settings = try coding.settings(row.bytes(2), context: HubStatements.context(id))
            hubs.append(
                Hub(
                    id: id, name: row.text(1), settings: settings, createdAt: row.timestamp(3),
                    modifiedAt: row.timestamp(4)))
        }
        return hubs
    }

    public func createHub(
        name: String, settings: HubSettings, at now: Timestamp
    ) async throws(StorageError) -> Hub? {
        let (coding, node) = (coding, nodes.incarnation)
        let made = try await changeDirectory {
            connection, patience throws(DatabaseFailure) -> Result<Hub?, StorageError> in
            // With this lock, no two nodes create the first hub at the same time.
            let batch = Batch(HubStatements.locking)
            let others = try connection.run(batch, patience)[0]
            let rows = try connection.run(
                Batch(HubStatements.inserting) {
                    $0.add(name)
                    $0.add(name.lowercased())
                    $0.add(now)
                }, patience)[0]
            guard rows.count == 1 else { return .success(nil) }
            // The ids of notifications and deliveries contain the number of the shard, which must be less than this
            // limit (`Shard.compose`).
            guard rows[0].integer(0) < Int64(Shard.limit) else {
                try connection.run(Batch(HubStatements.forgetting) { $0.add(rows[0].integer(0)) }, patience)
                return .failure(Self.tooManyHubs)
            }
            let hub = Hub(
                id: Hub.ID(rawValue: rows[0].integer(0)), name: name, settings: settings, createdAt: now,
                modifiedAt: now)
            let bytes: [UInt8]
            do throws(StorageError) {
                bytes = try coding.encode(settings, context: HubStatements.context(hub.id))
            } catch {
                try connection.run(Batch(HubStatements.forgetting) { $0.add(hub.id.rawValue) }, patience)
                return .failure(error)
            }
            var writes = Batch(HubStatements.updating) {
                $0.add(hub.id.rawValue)
                $0.add(bytes)
                $0.add(now)
            }
            writes.add(HubStatements.makeShard) {
                $0.add(Shard(hub.id).number)
                $0.add(node)
            }
            if others.count == 0 {
                writes.add(HubStatements.setBackendHub) { $0.add(hub.id.rawValue) }
            } else if others.count == 1 {
                writes.add(HubStatements.proposeBackendHub) { $0.add(others[0].integer(0)) }
            }
            try connection.run(writes, patience)
            return .success(hub)
        }
        return try made.get()
    }

    public func updateHub(
        _ id: Hub.ID, settings: HubSettings, replacing old: HubSettings, at now: Timestamp
    ) async throws(StorageError) -> HubUpdate {
        let (coding, context) = (coding, HubStatements.context(id))
        let bytes = try coding.encode(settings, context: context)
        let update = try await changeDirectory {
            connection, patience throws(DatabaseFailure) -> Result<HubUpdate, StorageError> in
            let rows = try connection.run(Batch(HubStatements.lockHub) { $0.add(id.rawValue) }, patience)[0]
            guard rows.count == 1 else { return .success(.absent) }
            do throws(StorageError) {
                guard try coding.settings(rows[0].bytes(0), context: context) == old else { return .success(.changed) }
            } catch {
                return .failure(error)
            }
            let batch = Batch(HubStatements.updating) {
                $0.add(id.rawValue)
                $0.add(bytes)
                $0.add(now)
            }
            try connection.run(batch, patience)
            return .success(.stored)
        }
        return try update.get()
    }

    public func deleteHub(_ id: Hub.ID) async throws(StorageError) -> Bool {
        let isDeleted = try await changeDirectory { connection, patience throws(DatabaseFailure) in
            let batch = Batch(HubStatements.deleting) { $0.add(id.rawValue) }
            guard try connection.run(batch, patience)[0].changes == 1 else { return false }
            try Self.removeShard(of: id, connection, patience)
            return true
        }
        if isDeleted { try await purge(id) }
        return isDeleted
    }

    /// Removes the rows of numbers of a shard. From then on, nothing more is written to the shard, and no page of its
    /// audiences is read. Writes of jobs lock these rows in the same order.
    private static func removeShard(
        of id: Hub.ID, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) {
        var removal = Batch(HubStatements.lockShard) { $0.add(Shard(id).number) }
        removal.add(HubStatements.removeShard) { $0.add(Shard(id).number) }
        try connection.run(removal, patience)
    }

    /// Marks a hub whose rows are in another cluster as deleted.
    func markDeleted(_ id: Hub.ID) async throws(StorageError) -> Bool {
        try await changeDirectory { connection, patience throws(DatabaseFailure) in
            try connection.run(Batch(HubStatements.deleting) { $0.add(id.rawValue) }, patience)[0].changes == 1
        }
    }

    /// The deleted hubs whose rows are in other clusters, and were not all removed yet.
    func deletedElsewhere() async throws(StorageError) -> [Hub.ID] {
        let rows = try await read(Batch(HubStatements.deletedElsewhere))[0]
        return (0..<rows.count).map { Hub.ID(rawValue: rows[$0].integer(0)) }
    }

    /// Removes everything that this cluster has of a deleted hub.
    func purge(deleted id: Hub.ID) async throws(StorageError) {
        try await transaction { connection, patience throws(DatabaseFailure) in
            try Self.removeShard(of: id, connection, patience)
        }
        try await purge(id)
    }

    /// Removes the remaining data of deleted hubs. A node leaves such data if it ends while it removes a hub.
    func purgeDeletedHubs() async throws(StorageError) {
        let rows = try await read(Batch(HubStatements.deleted))[0]
        for index in 0..<rows.count where !Task.isCancelled {
            try await purge(Hub.ID(rawValue: rows[index].integer(0)))
        }
    }

    /// Removes the rows of a deleted hub, in portions; other writes can happen in between.
    private func purge(_ id: Hub.ID) async throws(StorageError) {
        let unfinished = try await read(Batch(HubStatements.unfinished) { $0.add(Shard(id).number) })[0]
        for index in 0..<unfinished.count { try maps.remove(Delivery.ID(rawValue: unfinished[index].integer(0))) }
        for removal in HubStatements.removals {
            var removed = removal.portion
            while removed == removal.portion {
                removed = try await transaction { connection, patience throws(DatabaseFailure) in
                    try connection.run(Batch(removal.statement) { $0.add(Shard(id).number) }, patience)[0].changes
                }
            }
        }
        try await transaction { connection, patience throws(DatabaseFailure) in
            _ = try connection.run(Batch(HubStatements.forgetting) { $0.add(id.rawValue) }, patience)
        }
    }

    public func backendHub() async throws(StorageError) -> Hub.ID? {
        let rows = try await read(Batch(HubStatements.backendHub))[0]
        return rows.count == 1 ? rows[0].optionalInteger(0).map { Hub.ID(rawValue: $0) } : nil
    }

    public func setBackendHub(_ id: Hub.ID) async throws(StorageError) {
        try await changeDirectory { connection, patience throws(DatabaseFailure) in
            _ = try connection.run(Batch(HubStatements.setBackendHub) { $0.add(id.rawValue) }, patience)
        }
    }

    public func namespaceRules() async throws(StorageError) -> [AccessRule] {
        let rows = try await read(Batch(HubStatements.rules))[0]
        guard rows.count == 1, let bytes = rows[0].optionalBytes(0) else { return [] }
        return try coding.rules(bytes, context: HubStatements.namespaceContext)
    }

    public func setNamespaceRules(
        _ rules: [AccessRule], replacing old: [AccessRule]
    ) async throws(StorageError) -> Bool {
        let (coding, context) = (coding, HubStatements.namespaceContext)
        let bytes = try coding.encode(rules, context: context)
        let isReplaced = try await changeDirectory {
            connection, patience throws(DatabaseFailure) -> Result<Bool, StorageError> in
            let stored = try connection.run(Batch(HubStatements.lockNamespace), patience)[0][0].optionalBytes(0)
            do throws(StorageError) {
                let current = try stored.map { bytes throws(StorageError) in
                    try coding.rules(bytes, context: context)
                }
                guard (current ?? []) == old else { return .success(false) }
            } catch {
                return .failure(error)
            }
            try connection.run(Batch(HubStatements.setRules) { $0.add(bytes) }, patience)
            return .success(true)
        }
        return try isReplaced.get()
    }

    /// Changes data that all nodes have in memory: hubs, access rules and operators. Increases the version of this
    /// data, and sends a hint to the other nodes. The statement that increases the version also takes a lock. Every
    /// such transaction takes this lock first, so two of them cannot deadlock.
    /// - Parameter work: Sends batches and reads their rows. It may run twice.
    func changeDirectory<Value: Sendable>(
        _ work: @escaping @Sendable (Connection, Connection.Patience) throws(DatabaseFailure) -> Value
    ) async throws(StorageError) -> Value {
        let value = try await transaction { connection, patience throws(DatabaseFailure) in
            try connection.run(Batch(HubStatements.countDirectory), patience)
            return try work(connection, patience)
        }
        nodes.announce([.directory])
        return value
    }

    private static var tooManyHubs: StorageError {
        StorageError(
            .unavailable,
            "This database has made a million hubs, and numbers no more. Make further hubs in another database.")
    }

    private var coding: HubCoding { HubCoding(sealer: sealer) }
}

/// The statements on hubs. They run rarely, because nodes keep the hubs in memory.
enum HubStatements {
    static let namespaceContext = "namespace_rules"

    static func context(_ id: Hub.ID) -> String { "hubs/\(id.rawValue)" }

    static let lockHub = Statement.rare(
        [.int8], "SELECT settings FROM hubs WHERE id = $1 AND NOT is_deleted FOR UPDATE")
    static let lockNamespace = Statement.rare([], "SELECT rules FROM namespace FOR UPDATE")
    static let list = Statement.rare(
        [], "SELECT id, name, settings, created_at, modified_at FROM hubs WHERE NOT is_deleted ORDER BY folded_name")
    static let locking = Statement.rare(
        [],
        """
        WITH alone AS MATERIALIZED (SELECT 1 FROM namespace FOR UPDATE)
        SELECT id FROM hubs, alone WHERE NOT is_deleted LIMIT 2
        """)
    static let inserting = Statement.rare(
        [.bytes, .bytes, .int8],
        """
        INSERT INTO hubs (name, folded_name, settings, created_at, modified_at) VALUES ($1, $2, '', $3, $3)
        ON CONFLICT (folded_name) DO NOTHING RETURNING id
        """)
    static let updating = Statement.rare(
        [.int8, .bytes, .int8],
        """
        UPDATE hubs SET settings = $2, modified_at = $3, version = version + 1 WHERE id = $1 AND NOT is_deleted
        """)
    static let deleted = Statement.rare([], "SELECT id FROM hubs WHERE is_deleted AND cluster = 1 ORDER BY id")
    static let deletedElsewhere = Statement.rare(
        [], "SELECT id FROM hubs WHERE is_deleted AND cluster <> 1 ORDER BY id")
    static let unfinished = Statement.rare([.int4], "SELECT id FROM deliveries WHERE shard = $1 AND NOT is_final")
    /// Removes the row of a hub that could not be made, or whose other rows have all been removed.
    static let forgetting = Statement.rare([.int8], "DELETE FROM hubs WHERE id = $1")
    static let deleting = Statement.rare(
        [.int8],
        """
        UPDATE hubs SET is_deleted = true, settings = '', folded_name = '*'::bytea || int8send(id), version = version + 1
        WHERE id = $1 AND NOT is_deleted
        """)
    static let makeShard = Statement.rare(
        [.int4, .int8],
        """
        WITH devices AS (INSERT INTO ordinals (shard) VALUES ($1)) INSERT INTO send_ordinals (shard, node) VALUES ($1, $2)
        """)
    static let lockShard = Statement.rare([.int4], "SELECT 1 FROM ordinals WHERE shard = $1 FOR UPDATE")
    static let removeShard = Statement.rare(
        [.int4],
        """
        WITH devices AS (DELETE FROM ordinals WHERE shard = $1) DELETE FROM send_ordinals WHERE shard = $1
        """)
    static let backendHub = Statement.rare([], "SELECT backend_hub FROM namespace")
    static let setBackendHub = Statement.rare([.int8], "UPDATE namespace SET backend_hub = $1")
    static let proposeBackendHub = Statement.rare(
        [.int8], "UPDATE namespace SET backend_hub = $1 WHERE backend_hub IS NULL")
    static let rules = Statement.rare([], "SELECT rules FROM namespace")
    static let countDirectory = Statement.rare([], "UPDATE namespace SET directory_version = directory_version + 1")
    static let setRules = Statement.rare([.bytes], "UPDATE namespace SET rules = $1")

    /// The tables with rows of a shard. When the hub is deleted, all its rows in these tables are removed.
    static let shardTables = [
        "registrations", "channels", "former_channels", "tags", "contents", "installations", "device_keys",
        "tombstones", "registration_history", "writers", "parts", "backlogs", "requests", "outcome_counts", "collapses",
        "ranges", "reached", "page_records", "refusals", "attempts", "retries", "lane_pauses", "quarantines",
        "notification_receipts", "receipt_events", "deliveries", "notifications",
        "jobs", "campaigns", "campaign_numbers", "packs", "changed_channels",
    ]

    /// Removes rows of a table.
    struct Removal {
        let statement: Statement
        /// The maximum number of rows that one transaction removes. A pack is as long as some hundred rows.
        let portion: Int

        init(_ table: String) {
            portion = table == "packs" ? 100 : 10_000
            statement = .rare(
                [.int4],
                "DELETE FROM \(table) WHERE ctid = ANY(ARRAY(SELECT ctid FROM \(table) WHERE shard = $1 LIMIT \(portion)))"
            )
        }
    }

    static let removals = shardTables.map { Removal($0) }
}
