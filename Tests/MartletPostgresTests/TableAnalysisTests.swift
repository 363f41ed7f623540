import MartletCore
import MartletTesting
import Testing

@testable import MartletPostgres

/// Plans that were made for empty tables, when the tables have grown.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct TableAnalysisTests {
    private static let deliveries = 20_000
    private let patience = Connection.Patience.until(.now + .seconds(120))

    private func run(_ sql: String, _ connection: Connection) throws {
        try connection.run(Batch(.rare([], sql)), patience)
    }

    private func plan(_ name: String, _ connection: Connection) throws -> String {
        let rows = try connection.run(Batch(.rare([], "EXPLAIN (COSTS off) EXECUTE \(name)")), patience)[0]
        return (0..<rows.count).map { rows[$0].text(0) }.joined(separator: "\n")
    }

    private func fill(_ connection: Connection) throws {
        try run("INSERT INTO send_ordinals (shard, node) VALUES (1, 1)", connection)
        try run(
            """
            INSERT INTO notifications (shard, sequence, id, body, fields, is_confidential, accepted_at, expires_at,
                states_expiry)
            SELECT 1, i, int8send(i), '', '', false, 0, 0, false FROM generate_series(1, \(Self.deliveries)) i
            """, connection)
        try run(
            """
            INSERT INTO deliveries (shard, id, notification, platform, last_channel, last_registration, state)
            SELECT 1, i, i, 'pigeon', 1, 1, 'enqueued' FROM generate_series(1, \(Self.deliveries)) i
            """, connection)
    }

    /// The statements that look up one delivery and read the backlog.
    private static let lookUp = """
        PREPARE look_up (int4, int8) AS SELECT state FROM deliveries WHERE shard = $1 AND id = $2
        """
    private static let backlog = "PREPARE backlog (int8, int8, int8) AS \(NotificationStatements.unfinished.sql)"

    @Test func plansForEmptyTablesAreMadeAgainOnceTheTablesHaveGrown() async throws {
        let options = TestDatabase.fresh()
        let storage = try await TestDatabase.open(options)
        let connection = try TestDatabase.settings(options).connect()
        let analysis = try #require(storage.analysis)
        // On a busy machine autovacuum may come first.
        for table in ["deliveries", "notifications", "send_ordinals"] {
            try run("ALTER TABLE \(table) SET (autovacuum_enabled = off)", connection)
        }
        // An operator may have done this.
        try run("ANALYZE", connection)
        try run(Self.lookUp, connection)
        try run(Self.backlog, connection)
        let calls = ["look_up (1, 2)", "backlog (1, 1, 1)"]
        for call in calls { _ = try plan(call, connection) }
        try fill(connection)
        for call in calls {
            let text = try plan(call, connection)
            #expect(text.contains("Seq Scan on deliveries"), "\(call): \(text)")
        }
        let analyzed = try await analysis.analyzeGrownTables()
        #expect(analyzed.contains("deliveries") && analyzed.contains("notifications"), "\(analyzed)")
        for call in calls {
            let text = try plan(call, connection)
            #expect(!text.contains("Seq Scan on deliveries"), "\(call): \(text)")
            #expect(!text.contains("Seq Scan on notifications"), "\(call): \(text)")
        }
        #expect(try plan(calls[0], connection).contains("(id = $2)"))
        #expect(try !plan(calls[1], connection).contains("Sort"), "no more is read than is asked for")
        #expect(try await analysis.analyzeGrownTables() == [], "once for each growth")
        await storage.close()
    }

    @Test(.timeLimit(.minutes(10))) func theTablesAreLookedAtFromTimeToTime() async throws {
        var options = TestDatabase.fresh()
        options.analysisInterval = .milliseconds(20)
        let storage = try await TestDatabase.open(options)
        let connection = try TestDatabase.settings(options).connect()
        // Autovacuum would make the statistics too.
        try run("ALTER TABLE deliveries SET (autovacuum_enabled = off)", connection)
        try fill(connection)
        let pages = Statement.rare([], "SELECT relpages::int8 FROM pg_class WHERE oid = 'deliveries'::regclass")
        while try connection.run(Batch(pages), patience)[0][0].integer(0) == 0 { await Task.yield() }
        await storage.close()
    }
}
