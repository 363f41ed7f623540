import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct MoveTests {
    private let options = TestDatabase.fresh()

    private let now = Timestamp(seconds: 1_700_000_000)
    private let rules = MoveRules(hash: { $0 }, key: { $1 })

    private func address(_ proxy: CuttingProxy? = nil) throws -> DatabaseAddress {
        let direct = TestCluster.shared?.address ?? ""
        return try DatabaseAddress(proxy.map { "postgres://postgres@/martlet?host=\($0.directory)" } ?? direct)
    }

    private func openSource(_ proxy: CuttingProxy? = nil) throws -> PostgresMoveSource {
        try PostgresMoveSource(try address(proxy), sealer: PlainSealer(), rules: rules, schema: options.schema)
    }

    private func openTarget(_ proxy: CuttingProxy? = nil) throws -> PostgresMoveTarget {
        try PostgresMoveTarget(try address(proxy), sealer: PlainSealer(), rules: rules, schema: options.schema)
    }

    private func table(_ name: String) throws -> MovedTable {
        try #require(MovedTable.all.first { $0.name == name })
    }

    private func rowCount(_ source: PostgresMoveSource, _ name: String) throws -> Int64 {
        var count: Int64 = 0
        try source.readRows(of: try table(name), isForComparison: false) { _ in count += 1 }
        return count
    }

    /// Makes a schema with one hub in it.
    private func withHub(_ work: (PostgresStorage, Hub.ID) async throws -> Void = { _, _ in }) async throws {
        try await TestDatabase.with(options) { storage in
            let hub = try #require(try await storage.createHub(name: "shop", settings: HubSettings(), at: now)).id
            try await work(storage, hub)
        }
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

    // MARK: The last steps

    /// The trigger runs at the COMMIT, so it sees how the COMMIT is done. The cluster of the tests has
    /// `synchronous_commit = off`.
    @Test func theMarkIsOnTheDiskAlsoIfOtherCommitsAreNot() async throws {
        try await withHub()
        try run(
            """
            CREATE FUNCTION flushed() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM 1 / (current_setting('synchronous_commit') = 'on')::int; RETURN NULL; END $$
            """)
        try run(
            """
            CREATE CONSTRAINT TRIGGER flushed AFTER UPDATE ON namespace DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION flushed()
            """)
        #expect(throws: DatabaseFailure.self) { try run("UPDATE namespace SET moved_to = 'x'") }
        try openSource().retire(to: "the directory /data")
    }

    @Test func theServerNoticesThatTheMachineOfAMoveIsGone() throws {
        let (connection, _) = try MoveSession.open(try address(), options.schema)
        #expect(try connection.run(.rare([], "SHOW client_connection_check_interval"))[0].text(0) == "2s")
    }

    @Test func aCommitWhoseAnswerIsLostIsFoundOut() async throws {
        let proxy = try CuttingProxy(before: try #require(TestCluster.shared?.directory))
        let target = try openTarget(proxy)
        try target.begin(MovedDirectory(hubs: [], rules: [], backendHub: nil, platforms: []), MovedNumbers())
        try target.endCopying()
        proxy.cutNextCommit()
        try target.complete()
        let source = try openSource(proxy)
        proxy.cutNextCommit()
        try source.retire(to: "the directory /data")
        #expect(proxy.cutCount == 2)
        #expect(try run("SELECT moved_to FROM namespace")[0].text(0) == "the directory /data")
    }

    @Test func anExaminationSaysThatADatabaseWasMoved() async throws {
        try await withHub()
        try openSource().retire(to: "the directory /data")
        let settings = try TestDatabase.settings(options)
        let facts = try DatabaseFacts(
            try settings.connect(), settings, ManualTimeSource(), .until(.now + .seconds(60)))
        #expect(facts.refusal?.detail.contains("was moved to the directory /data") == true)
    }

    // MARK: Losses

    @Test func rowsOfAMissingDeliveryAreCounted() async throws {
        try await withHub()
        try run(
            """
            INSERT INTO retries (shard, delivery, channel, registration, attempts, due_at, outcome, reason)
            SELECT id, 7, 1, 0, 1, 0, 'serviceFailed', '' FROM hubs
            """)
        try run("INSERT INTO reached (shard, delivery, place, members) SELECT id, 7, 0, '\\x0101' FROM hubs")
        let source = try openSource()
        for name in ["retries", "reached"] {
            #expect(try rowCount(source, name) == 0)
            #expect(try source.count(of: try table(name)) == 1, "\(name)")
        }
    }

    @Test func aTagThatIsMissingIsNotLeftOut() async throws {
        try await withHub { storage, hub in
            let drafts = try [["News", "vip"], ["news", "vip"], []].enumerated().map { number, tags in
                RegistrationDraft(
                    platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("h\(number)"), handleKey: "h\(number)",
                    tags: try tags.map { try Tag($0) })
            }
            let changes = drafts.enumerated().map { RegistrationChange.put($1, id: "\($0)", condition: .none) }
            for result in try await storage.apply(changes, in: hub, at: now) { _ = try result.get() }
        }
        do {
            let source = try openSource()
            for name in ["registrations", "tags", "memberships"] {
                #expect(try source.count(of: try table(name)) == rowCount(source, name), "\(name)")
            }
        }
        try run("DELETE FROM tags WHERE name = 'vip'")
        let source = try openSource()
        #expect(try source.count(of: try table("memberships")) == 7)
        #expect(try rowCount(source, "memberships") == 5)
        #expect { _ = try rowCount(source, "registrations") } throws: { "\($0)".contains("a tag that does not exist") }
    }

    @Test func aColumnOfAnUnknownTypeIsNotLeftOut() async throws {
        try await TestDatabase.with(options) { _ in }
        try run("ALTER TABLE tombstones ADD COLUMN x jsonb DEFAULT '{}'")
        let target = try openTarget()
        #expect {
            try target.beginRows(of: try table("tombstones"))
        } throws: {
            "\($0)".contains("Nothing is known of the column 'x' of 'tombstones'")
        }
    }

    @Test(arguments: [MovedNumber.tags, .notifications, .deliveries])
    func numbersForWhichThereIsNoRoomAreRefused(_ kind: MovedNumber) throws {
        let target = try openTarget()
        func begin(_ name: String, _ id: Int64, _ last: Int64) throws {
            let hub = Hub(
                id: Hub.ID(rawValue: id), name: name, settings: HubSettings(), createdAt: now, modifiedAt: now)
            var numbers = MovedNumbers()
            numbers.ofHub[id] = [kind: last]
            try target.begin(MovedDirectory(hubs: [hub], rules: [], backendHub: nil, platforms: []), numbers)
        }
        let limit: Int64 = kind == .tags ? 1 << 31 : 1 << 42
        try begin("shop", 3, limit - 1)
        #expect {
            try begin("other", 4, limit)
        } throws: { error in
            ["'other'", kind.rawValue, "at most \(limit - 1),", "Nothing was moved."].allSatisfy("\(error)".contains)
        }
    }
}
