import MartletCore
import MartletTesting

@testable import MartletPostgres

/// Databases for single tests: schemas of their own in the cluster of the run.
enum TestDatabase {
    /// Whether there is a PostgreSQL to test with.
    static var isThere: Bool { TestCluster.shared != nil }

    /// Calls `body` with a storage that is empty and of no use to others meanwhile.
    /// - Parameter options: Options of `fresh`, for a test that opens its schema again; nil to share schemas, which takes
    ///   a tenth of the time.
    static func with<Value>(
        _ options: PostgresStorage.Options? = nil, _ body: (PostgresStorage) async throws -> Value
    ) async throws -> Value {
        try await withNodes(1, options) { try await body($0[0]) }
    }

    /// Calls `body` with several nodes at one database, which have renewed their leases once and own nothing.
    static func withNodes<Value>(
        _ count: Int, _ options: PostgresStorage.Options? = nil, _ body: ([PostgresStorage]) async throws -> Value
    ) async throws -> Value {
        let lent = await SchemaPool.shared.take()
        var nodes: [PostgresStorage] = []
        let result: Result<Value, any Error>
        do {
            for _ in 0..<count { nodes.append(try await open(options ?? self.options(schema: lent))) }
            if options == nil { try await nodes[0].empty(keeping: nodes.map(\.nodes.incarnation)) }
            for node in nodes { _ = try await node.nodes.renew() }
            result = .success(try await body(nodes))
        } catch {
            result = .failure(error)
        }
        for node in nodes { await node.close() }
        await SchemaPool.shared.giveBack(lent)
        return try result.get()
    }

    /// Options with a schema that nobody has used.
    static func fresh() -> PostgresStorage.Options { options(schema: "test_\(UInt64.random(in: 0 ... .max))") }

    /// Tests run side by side, so they make do with few connections.
    static func options(schema: String) -> PostgresStorage.Options {
        var options = PostgresStorage.Options()
        options.schema = schema
        (options.writers, options.readers, options.pageReaders) = (1, 1, 1)
        // A machine that runs all tests at once is slower than any that serves.
        options.patience = .seconds(60)
        // Statistics are made when a test says so.
        options.analysisInterval = nil
        // Leases end when a test says so.
        options.lease = .seconds(600)
        return options
    }

    static func open(_ options: PostgresStorage.Options) async throws -> PostgresStorage {
        try await PostgresStorage.open(
            try DatabaseAddress(TestCluster.shared?.address ?? ""), sealer: PlainSealer(), options: options)
    }

    /// Settings for connections to the cluster.
    static func settings(_ options: PostgresStorage.Options = fresh()) throws -> ConnectionSettings {
        ConnectionSettings(
            address: try DatabaseAddress(TestCluster.shared?.address ?? ""), schema: options.schema,
            patience: options.patience)
    }
}

/// Marks secrets with their context, so that a test can see that they were sealed for it.
struct PlainSealer: Sealer {
    let mark: [UInt8] = [0x5A]

    func seal(_ secret: [UInt8], context: String) -> [UInt8] {
        mark + Array(context.utf8) + [0] + secret.map { $0 ^ 0x5A }
    }

    func open(_ sealed: [UInt8], context: String) -> [UInt8]? {
        let prefix = mark + Array(context.utf8) + [0]
        return sealed.starts(with: prefix) ? sealed.dropFirst(prefix.count).map { $0 ^ 0x5A } : nil
    }
}

/// The schemas that tests share. There are few, because making one takes two hundred statements, and the machine has
/// few cores; more tests than that wait for their turn.
actor SchemaPool {
    static let shared = SchemaPool()

    private var free = (1...4).map { "shared_\($0)" }
    private var waiting: [CheckedContinuation<String, Never>] = []

    func take() async -> String {
        if let schema = free.popLast() { return schema }
        return await withCheckedContinuation { waiting.append($0) }
    }

    func giveBack(_ schema: String) {
        if waiting.isEmpty { free.append(schema) } else { waiting.removeFirst().resume(returning: schema) }
    }
}

extension PostgresStorage {
    static func open(
        _ address: DatabaseAddress, sealer: any Sealer, options: Options = Options()
    ) async throws(StorageError) -> PostgresStorage {
        try await open(address, sealer: sealer, options: options) { _ in MemoryProgressMaps() }
    }

    /// Removes what an earlier test has left.
    fileprivate func empty(keeping nodes: [Int64]) async throws(StorageError) {
        try await transaction { connection, patience throws(DatabaseFailure) in
            let listing = Statement.rare(
                [], "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1")
            let rows = try connection.run(Batch(listing), patience)[0]
            // So the order does not matter to foreign keys.
            var batch = Batch(.rare([], "SET LOCAL session_replication_role = replica"))
            for table in (0..<rows.count).map({ rows[$0].text(0) })
            where !["migrations", "namespace", "nodes"].contains(table) {
                batch.add(.rare([], "DELETE FROM \(table)"))
            }
            batch.add(.rare([.int8s], "DELETE FROM nodes WHERE incarnation <> ALL($1)")) { $0.add(nodes) }
            batch.add(.rare([], "INSERT INTO containers (space, name) VALUES (1, 'payloads')"))
            batch.add(.rare([], "UPDATE namespace SET rules = NULL, backend_hub = NULL"))
            try connection.run(batch, patience)
        }
    }
}
