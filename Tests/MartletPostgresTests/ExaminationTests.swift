import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

struct ExaminationRuleTests {
    private let good = DatabaseFacts(
        settings: [
            "fsync": "on", "full_page_writes": "on", "synchronous_commit": "on",
            "synchronous_standby_names": "ANY 1 (db2, db3)", "wal_level": "replica", "autovacuum": "on",
            "track_counts": "on", "data_checksums": "on", "idle_session_timeout": "0",
            "default_transaction_isolation": "read committed", "client_min_messages": "notice",
        ],
        standbys: ["db2", "db3"], seesOthers: true, nodes: 2, schema: .current, deadRows: [], idleSessions: [],
        clockDifference: .zero)

    @Test func aDatabaseThatIsSetUpWellHasOnlyGoodFindings() {
        let findings = good.findings(connections: 97)
        #expect(findings.allSatisfy { $0.level == .good }, "\(findings)")
    }

    @Test func eachFaultIsNamedOnceWithWhatToDo() {
        let cases: [(String, DatabaseFinding.Level, (inout DatabaseFacts) -> Void)] = [
            ("set fsync = on", .problem, { $0.settings["fsync"] = "off" }),
            ("set full_page_writes = on", .problem, { $0.settings["full_page_writes"] = "off" }),
            ("synchronous_commit is off", .problem, { $0.settings["synchronous_commit"] = "off" }),
            ("synchronous_commit is local", .problem, { $0.settings["synchronous_commit"] = "local" }),
            ("perhaps not on its disk", .warning, { $0.settings["synchronous_commit"] = "remote_write" }),
            (
                "the data is on one machine", .warning,
                {
                    $0.settings["synchronous_standby_names"] = ""
                    $0.standbys = []
                }
            ),
            ("can lose the last writes", .warning, { $0.settings["synchronous_standby_names"] = "" }),
            (
                "may not see whether a standby follows", .warning,
                {
                    $0.settings["synchronous_standby_names"] = ""
                    $0.standbys = []
                    $0.seesOthers = false
                }
            ),
            (
                "db2 can fail for no moment", .warning,
                {
                    $0.settings["synchronous_standby_names"] = "db2"
                    $0.standbys = ["db2"]
                }
            ),
            ("No standby is connected", .problem, { $0.standbys = [] }),
            ("Connected: walreceiver", .problem, { $0.standbys = ["walreceiver"] }),
            ("no standby is called db3", .warning, { $0.standbys = ["db2"] }),
            ("may not see the standbys", .warning, { $0.seesOthers = false }),
            ("wal_level is minimal", .warning, { $0.settings["wal_level"] = "minimal" }),
            ("Set autovacuum = on", .problem, { $0.settings["autovacuum"] = "off" }),
            ("pg_checksums --enable", .warning, { $0.settings["data_checksums"] = "off" }),
            ("97 connections, and 16 nodes use 96", .warning, { $0.nodes = 16 }),
            ("goes by the database's", .warning, { $0.clockDifference = .seconds(5) }),
            ("5000 ms behind", .warning, { $0.clockDifference = .seconds(-5) }),
            ("upgrades the schema in 2 steps", .warning, { $0.schema = .older(2) }),
            ("newer", .problem, { $0.schema = .unusable(StorageError(.unavailable, "It is newer.")) }),
            ("this server has none", .problem, { $0.key = .missing }),
            ("sealed with another secret key", .problem, { $0.key = .differs }),
            ("was moved to", .problem, { $0.refusal = MovedAway.refusal("the directory '/data'", "martlet") }),
            (
                "registrations has 30000 dead rows", .warning,
                { $0.deadRows = [DatabaseFacts.DeadRows(table: "registrations", dead: 30_000, live: 4)] }
            ),
            (
                "process 17", .warning,
                { $0.idleSessions = [DatabaseFacts.IdleSession(process: 17, seconds: 90)] }
            ),
            (
                "A move is running", .warning,
                { $0.idleSessions = [DatabaseFacts.IdleSession(process: 18, seconds: 90, isMove: true)] }
            ),
            ("idle_session_timeout is 60000 ms", .problem, { $0.settings["idle_session_timeout"] = "60000" }),
            ("transaction_timeout is 1 ms", .problem, { $0.settings["transaction_timeout"] = "1" }),
            ("is serializable", .problem, { $0.settings["default_transaction_isolation"] = "serializable" }),
            ("client_min_messages is error", .problem, { $0.settings["client_min_messages"] = "error" }),
        ]
        for (words, level, spoil) in cases {
            var facts = good
            spoil(&facts)
            let bad = facts.findings(connections: 97).filter { $0.level != .good }
            #expect(bad.count == 1 && bad[0].level == level, "\(words): \(bad)")
            #expect(bad.contains { $0.sentence.contains(words) }, "\(words): \(bad)")
        }
    }

    @Test(
        arguments: [
            ("", nil), ("db2", (1, ["db2"])), ("db2, DB3", (1, ["db2", "db3"])), ("*", (1, ["*"])),
            ("2 (a, b, c)", (2, ["a", "b", "c"])), ("FIRST 1 (any, \"first\")", (1, ["any", "first"])),
            ("any 2(\"a \"\"b\"\"\",c)", (2, ["a \"b\"", "c"])), ("first", (1, ["first"])),
        ] as [(String, (Int, [String])?)])
    func theNamesOfStandbysAreReadAsPostgreSQLReadsThem(_ value: String, _ expected: (Int, [String])?) {
        let standbys = SynchronousStandbys(value)
        #expect(standbys?.count == expected?.0 && standbys?.names == expected?.1)
    }
}

@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct ExaminationTests {
    /// The cluster of the tests flushes nothing, and its database has no schema of this name.
    @Test func aRealDatabaseIsExaminedAndNothingIsChanged() async throws {
        let address = try DatabaseAddress(TestCluster.shared?.address ?? "")
        let findings = await PostgresStorage.findings(about: address, time: ManualTimeSource(), key: .absent)
        let problems = findings.filter { $0.level == .problem }.map(\.sentence)
        #expect(problems.contains { $0.hasPrefix("fsync is off") }, "\(findings)")
        #expect(problems.contains { $0.hasPrefix("synchronous_commit is off") })
        #expect(findings.contains { $0.sentence == "The encoding is UTF8." && $0.level == .good })
        #expect(findings.contains { $0.sentence.hasPrefix("The clock of the database is") })
    }

    @Test func aKeyIsToldApartFromNoneAndFromAnotherAndNothingIsChanged() async throws {
        let options = TestDatabase.fresh()
        let address = try DatabaseAddress(TestCluster.shared?.address ?? "")
        func findings(_ key: NodeKey) async -> [DatabaseFinding] {
            await PostgresStorage.findings(
                about: address, time: ManualTimeSource(), key: key, schema: options.schema
            ).filter { $0.sentence.contains("secret key") }
        }
        for key in [NodeKey.absent, .given(PlainSealer()), .unreadable] {
            let found = await findings(key)
            #expect(found.count == 1 && found[0].sentence.contains("No secret is in the database yet"), "\(found)")
        }
        try await PostgresStorage.checkWithoutKey(address, schema: options.schema)
        try await TestDatabase.open(options).close()
        #expect(await findings(.given(PlainSealer())).map(\.level) == [.good])
        let advice = KeyCheck.adviceForChecks
        #expect(await findings(.given(OtherSealer())).map(\.sentence) == [KeyCheck.otherKey.detail + advice])
        #expect(await findings(.absent).map(\.sentence) == [KeyCheck.noKey.detail + advice])
        #expect(await findings(.unreadable).isEmpty)
        await #expect(throws: KeyCheck.noKey) {
            try await PostgresStorage.checkWithoutKey(address, schema: options.schema)
        }
        await #expect(throws: KeyCheck.otherKey) {
            try await PostgresStorage.open(address, sealer: OtherSealer(), options: options)
        }
        try TestDatabase.settings(options).connect().run(
            Batch(.rare([], "UPDATE namespace SET moved_to = 'the directory /data'")), .until(.now + .seconds(60)))
        await #expect {
            try await PostgresStorage.checkWithoutKey(address, schema: options.schema)
        } throws: {
            "\($0)".contains("was moved to the directory /data")
        }
    }

    @Test func aDatabaseThatDoesNotAnswerIsOneProblem() async throws {
        let address = try DatabaseAddress("postgres://nobody@127.0.0.1:1/martlet")
        let findings = await PostgresStorage.findings(about: address, time: ManualTimeSource(), key: .absent)
        #expect(findings.map(\.level) == [.problem])
        #expect(findings[0].sentence.contains("Nobody listens at the database 'martlet' on 127.0.0.1:1."))
    }
}

/// Opens nothing.
private struct OtherSealer: Sealer {
    let mark: [UInt8] = [0x5B]

    func seal(_ secret: [UInt8], context: String) -> [UInt8] { mark + secret }
    func open(_ sealed: [UInt8], context: String) -> [UInt8]? { nil }
}
