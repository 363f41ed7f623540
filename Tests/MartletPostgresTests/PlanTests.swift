import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

/// The plans of the statements on which the cost of a send and of a registration depends, over 100,000 registrations.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct PlanTests {
    private static let registrations = 100_000
    private let patience = Connection.Patience.until(.now + .seconds(120))

    @Test func noHotStatementReadsMoreThanItReturns() async throws {
        let options = TestDatabase.fresh()
        try await TestDatabase.open(options).close()
        let connection = try TestDatabase.settings(options).connect()
        try fill(connection)
        let expression = try TagExpression("rare")
        let plans = [
            Plan("a user's devices", AudienceStatement(expression, .sparse(.all), withHandles: true), rows: 200),
            Plan("one of some users", AudienceStatement(expression, .sparse(.any), withHandles: true), rows: 200),
            Plan("everybody", AudienceStatement(nil, .dense, withHandles: true), rows: 2000),
            Plan("many", AudienceStatement(expression, .dense, withHandles: true), rows: Self.registrations),
            Plan("channels", AudienceStatement(nil, .listedChannels, withHandles: true), rows: 200),
            Plan("members", AudienceStatement(nil, .listedMembers, withHandles: true), rows: 200),
        ]
        for plan in plans { try check(plan, connection) }
        for (name, statement) in [
            ("by id", DeviceReads.byID), ("by installation", DeviceReads.byInstallation),
            ("by key", DeviceReads.channelsByKey), ("tombstones", DeviceReads.tombstones),
            ("tags", DeviceReads.tagsByName), ("contents", DeviceReads.contentsByHash),
            ("repeated writes", DeviceChanges.repeatRegistrations), ("writes", DeviceChanges.updateRegistrations),
            ("removals", DeviceChanges.deleteRegistrations), ("unused channels", DeviceChanges.removeUnused),
            ("spellings", DeviceChanges.spell), ("listing", ListingStatements.all),
            ("listing by handle", ListingStatements.byHandle), ("registrations of channels", DeviceReads.byChannel),
            ("packs", PackStatements.packs), ("overview", PackStatements.overview), ("a block", PackStatements.entries),
            ("removal of marks", PackStatements.removeMarks), ("content of a pack", PackStatements.store),
        ] {
            let text = try explain(statement, connection)
            #expect(!Self.readsWholeTable(text), "\(name): \(text)")
        }
        // Each channel looks for one pack, also where all packs would fit into a few pages.
        let marks = try explain(PackStatements.mark, connection, values: "1, '{2}', '{37}'")
        #expect(marks.contains("Index Scan using packs_pkey"), "\(marks)")
    }

    /// What a statement is asked for and how many rows each step of it may read at most.
    private struct Plan {
        let name: String
        let statement: AudienceStatement
        let rows: Int

        init(_ name: String, _ statement: AudienceStatement, rows: Int) {
            self.name = name
            self.statement = statement
            self.rows = rows
        }
    }

    private func check(_ plan: Plan, _ connection: Connection) throws {
        let text = try explain(
            plan.statement.statement, connection,
            values: "1, 2, 0, 0, 9e18::int8, 9e18::int8, 0, 1000"
                + (plan.name == "members" ? ", '{5,6}', '{5,6}'" : plan.name == "channels" ? ", '{5,6}'" : "")
                + (plan.name.contains("user") ? ", '{\(1 << 32 | 7)}'" : "")
                + plan.statement.tags.map { _ in ", \(1 << 32 | 7)" }.joined())
        #expect(!Self.readsWholeTable(text), "\(plan.name): \(text)")
        for line in text.split(separator: "\n")
        where line.contains(" on registrations") || line.contains("registrations_") {
            #expect(Self.rows(of: line) <= plan.rows, "\(plan.name): \(line)")
        }
    }

    private static func readsWholeTable(_ plan: String) -> Bool {
        plan.split(separator: "\n").contains { line in
            line.contains("Seq Scan on") && !line.contains("never executed")
                && ["registrations", "channels", "packs", "changed_channels"].contains {
                    line.contains("Seq Scan on \($0)")
                }
        }
    }

    /// The number of rows that a step has read, from "(actual rows=3 loops=2)".
    private static func rows(of line: Substring) -> Int {
        func number(behind text: String) -> Int {
            guard let part = line.split(separator: text, maxSplits: 1).dropFirst().first else { return 0 }
            return Int(part.prefix { $0.isNumber }) ?? 0
        }
        return number(behind: "actual rows=") * max(1, number(behind: "loops="))
    }

    /// The plan that all executions of a statement share.
    private func explain(_ statement: Statement, _ connection: Connection, values: String? = nil) throws -> String {
        let names: [ParameterType: String] = [
            .bool: "bool", .bytes: "bytea", .int8: "int8", .int4: "int4", .text: "text", .bools: "bool[]",
            .bytesArray: "bytea[]", .int4s: "int4[]", .texts: "text[]", .int8s: "int8[]",
        ]
        let types = statement.types.map { names[$0] ?? "" }
        let arguments =
            values
            ?? types.map { $0.hasSuffix("[]") ? "'{}'" : $0 == "bytea" ? "''" : "1" }.joined(
                separator: ", ")
        try connection.run(
            Batch(.rare([], "PREPARE judged (\(types.joined(separator: ", "))) AS \(statement.sql)")), patience)
        defer { _ = try? connection.run(Batch(.rare([], "DEALLOCATE judged")), patience) }
        let rows = try connection.run(
            Batch(.rare([], "EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) EXECUTE judged (\(arguments))")),
            patience)[0]
        return (0..<rows.count).map { rows[$0].text(0) }.joined(separator: "\n")
    }

    private func fill(_ connection: Connection) throws {
        let count = Self.registrations
        let statements = [
            "SET statement_timeout = '120s'",
            "INSERT INTO ordinals (shard, channels, registrations, tags) VALUES (1, \(count), \(count), 2000)",
            """
            INSERT INTO channels (shard, hash, channel, platform)
            SELECT 1, substr(sha256(int4send(1) || int8send(i)), 1, 16), i, 1 FROM generate_series(1, \(count)) i
            """,
            // One tag of everybody, one of a hundredth, and one of a few devices.
            """
            INSERT INTO registrations (shard, scope, channel, sequence, id, handle, tags, version, created_at, updated_at)
            SELECT 1, 2, i, i, int8send(i), sha256(int8send(i)),
                ARRAY[(1::int8 << 32) + 1, (1::int8 << 32) + 200 + i % 100, (1::int8 << 32) + 1000 + i / 3], 1, 0, 0
            FROM generate_series(1, \(count)) i
            """,
            "UPDATE registrations SET tags = tags || ((1::int8 << 32) + 7) WHERE channel % 1000 = 0",
            "INSERT INTO packs (shard, scope, block, token) SELECT 1, 2, i, 1 FROM generate_series(0, 250) i",
            """
            INSERT INTO changed_channels (shard, scope, channel)
            SELECT s, 2, i FROM generate_series(1, 5) s, generate_series(1, 5000) i
            """,
            "VACUUM ANALYZE registrations", "VACUUM ANALYZE channels", "VACUUM ANALYZE packs",
            "VACUUM ANALYZE changed_channels",
        ]
        for statement in statements { try connection.run(Batch(.rare([], statement)), patience) }
    }
}
