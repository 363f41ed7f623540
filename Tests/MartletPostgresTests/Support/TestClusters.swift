import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

/// Two databases as the clusters of one server, with the tables in one of the schemas that tests share.
enum TestClusters {
    /// The name of the database that is the second cluster.
    private static let second = "martlet_two"

    /// The address of the second cluster. Makes its database at the first use.
    static let secondAddress: String? = {
        guard let cluster = TestCluster.shared, let address = try? DatabaseAddress(cluster.address) else { return nil }
        // A database cannot be made in a pipeline.
        let statement = Statement.rare(
            [], "CREATE DATABASE \(second) TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'")
        do throws(DatabaseFailure) {
            try BulkConnection(address, []).run(statement)
            return cluster.address(of: second)
        } catch {
            return nil
        }
    }()

    /// Calls `body` with several nodes of a server with two empty clusters. Each node has renewed its leases.
    /// - Parameter isSpread: Whether every other new hub is on the second cluster.
    static func with<Value>(
        _ count: Int = 1, isSpread: Bool = false,
        _ body: ([ClusteredStorage]) async throws -> Value
    ) async throws -> Value {
        let schema = await SchemaPool.shared.take()
        var nodes: [ClusteredStorage] = []
        let result: Result<Value, any Error>
        do {
            let addresses = [try #require(TestCluster.shared?.address), try #require(secondAddress)]
            for address in addresses { try empty(try DatabaseAddress(address), schema) }
            nodes.append(try await open(schema, isSpread: isSpread))
            #expect(try await nodes[0].addCluster(addresses[1], at: Timestamp(seconds: 0)).number == 2)
            for _ in 1..<max(1, count) where count > 1 { nodes.append(try await open(schema, isSpread: isSpread)) }
            // The first renewal connects to the second cluster, if the node has not done so yet.
            for node in nodes {
                for _ in 0..<2 { _ = try await node.nodeStoreOfAll?.renew() }
                while !node.members.allSatisfy({ $0.failure == nil && $0.lease != nil }) {
                    try await Task.sleep(for: .milliseconds(20))
                    _ = try await node.nodeStoreOfAll?.renew()
                }
            }
            result = .success(try await body(nodes))
        } catch {
            result = .failure(error)
        }
        for node in nodes { await node.close() }
        await SchemaPool.shared.giveBack(schema)
        return try result.get()
    }

    /// Opens another node.
    static func open(_ schema: String, isSpread: Bool = false) async throws -> ClusteredStorage {
        try await ClusteredStorage.open(
            try DatabaseAddress(try #require(TestCluster.shared?.address)), sealer: PlainSealer(),
            options: TestDatabase.options(schema: schema), places: .init(), quiet: .init(nodes: .zero, answers: .zero),
            cluster: { isSpread ? Int($0.rawValue % 2) + 1 : 1 }, maps: { _ in MemoryProgressMaps() })
    }

    /// Removes what an earlier test has left.
    private static func empty(_ address: DatabaseAddress, _ schema: String) throws {
        let connection = try BulkConnection(
            address, [("search_path", schema), ("session_replication_role", "replica")])
        let listing = Statement.rare([.text], "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 ORDER BY 1")
        let rows = try connection.run(listing) { $0.add(schema) }
        let tables = (0..<rows.count).map { rows[$0].text(0) }
        guard tables.contains("migrations") else { return }
        for table in tables where !["migrations", "namespace"].contains(table) {
            try connection.run("DELETE FROM \(table)")
        }
        try connection.run("INSERT INTO containers (space, name) VALUES (1, 'payloads')")
        try connection.run("UPDATE namespace SET rules = NULL, backend_hub = NULL")
    }
}
