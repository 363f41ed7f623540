import MartletCore
import MartletTesting
import Testing

@testable import MartletPostgres

@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct MoveTests {
    private let options = TestDatabase.fresh()

    private func openSource() throws -> PostgresMoveSource {
        try PostgresMoveSource(
            try DatabaseAddress(TestCluster.shared?.address ?? ""), sealer: PlainSealer(),
            rules: MoveRules(hash: { $0 }, key: { $1 }), schema: options.schema)
    }

    /// Runs a statement that waits for no lock.
    @discardableResult
    private func run(_ sql: String) throws -> Rows {
        var batch = Batch(.rare([], "SELECT set_config('lock_timeout', '50ms', false)"))
        batch.add(.rare([], sql))
        return try TestDatabase.settings(options).connect().run(batch, .until(.now + .seconds(60)))[1]
    }

    @Test func aNodeThatStoodStillDoesNotGoOnDuringAMoveNorAfterIt() async throws {
        let node = try await TestDatabase.open(options)
        #expect { _ = try openSource() } throws: { "\($0)".contains("stop all nodes") }
        try run("UPDATE nodes SET until = clock_timestamp() - interval '1 h'")
        let source = try openSource()
        for table in ["nodes", "ordinals", "send_ordinals"] {
            #expect(throws: DatabaseFailure.refused(.lockNotAvailable), "\(table)") {
                try run("DELETE FROM \(table) WHERE false")
            }
        }
        try source.retire(to: "the directory /data")
        #expect(try run("SELECT count(*) FROM nodes WHERE NOT is_dead")[0].integer(0) == 0)
        #expect { _ = try openSource() } throws: { "\($0)".contains("was moved to the directory /data") }
        await node.close()
    }
}
