import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct ConnectionTests {
    private let now = Timestamp(seconds: 1_700_000_000)
    private let patience = Connection.Patience.until(.now + .seconds(60))

    @Test func parametersOfEveryTypeComeBackAsTheyWere() throws {
        let connection = try TestDatabase.settings().connect()
        let statement = Statement.rare(
            [.bool, .int4, .int8, .text, .bytes, .int8s, .texts, .int8, .bytesArray],
            "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9")
        let batch = Batch(statement) {
            $0.add(true)
            $0.add(Int32(-7))
            $0.add(Int64.min)
            $0.add("ünï")
            $0.add([UInt8]([0, 255]))
            $0.add([Int64]([1, -1, .max]))
            $0.add(["", "a", "ö"])
            $0.add(Int64?.none)
            $0.add([[UInt8]]())
        }
        let row = try connection.run(batch, patience)[0][0]
        #expect(row.bool(0))
        #expect(row.integer32(1) == -7)
        #expect(row.integer(2) == .min)
        #expect(row.text(3) == "ünï")
        #expect(row.bytes(4) == [0, 255])
        #expect(row.integers(5) == [1, -1, .max])
        #expect(row.texts(6) == ["", "a", "ö"])
        #expect(row.isNull(7))
        #expect(row.texts(8) == [])
    }

    @Test func aBatchThatFailsLeavesItsNeighboursAlone() throws {
        let connection = try TestDatabase.settings().connect()
        let good = Batch(.rare([], "SELECT 1::int8"))
        let bad = Batch(.rare([], "SELECT 1 / 0"))
        let wrong = Batch(.rare([], "SELECT nothing FROM nowhere"))
        let results = try connection.run([good, bad, wrong, good], patience)
        #expect((try? results[0].get())?.first?[0].integer(0) == 1)
        #expect(results[1].error == .refused(SQLState("22012")))
        #expect(results[2].error == .refused(SQLState("42P01")))
        #expect((try? results[3].get())?.first?[0].integer(0) == 1)
    }

    @Test func aBatchLargerThanTheBuffersOfTheSocketPasses() throws {
        let connection = try TestDatabase.settings().connect()
        var batch = Batch()
        for _ in 0..<64 {
            batch.add(.rare([.bytes], "SELECT $1")) { $0.add([UInt8](repeating: 7, count: 300_000)) }
        }
        let rows = try connection.run(batch, patience)
        #expect(rows.allSatisfy { $0[0].bytes(0).count == 300_000 })
    }

    @Test func aStatementThatIsNotAnsweredInTimeIsGivenUp() throws {
        let connection = try TestDatabase.settings().connect()
        #expect(throws: DatabaseFailure.late) {
            try connection.run(Batch(.rare([], "SELECT pg_sleep(60)")), .until(.now + .milliseconds(50)))
        }
    }

    @Test func whatCannotBeReachedIsToldApart() async throws {
        let cluster = try #require(TestCluster.shared)
        let cases = [
            (cluster.address(of: "nowhere"), "There is no such database"),
            (cluster.address(of: "martlet", user: "nobody-at-all"), "There is no user nobody-at-all"),
            ("postgres://postgres@/martlet?host=\(cluster.directory)/elsewhere", "Nobody listens"),
            ("postgres://postgres@127.0.0.1:1/martlet", "Nobody listens"),
        ]
        for (address, words) in cases {
            await #expect {
                _ = try await PostgresStorage.open(try DatabaseAddress(address), sealer: PlainSealer())
            } throws: { error in
                ("\(error)".contains(words) && (error as? StorageError)?.kind == .unavailable)
            }
        }
    }

    @Test func aFirstServerThatDoesNotAnswerIsPassedOver() throws {
        let cluster = try #require(TestCluster.shared)
        let silent = try SilentServer()
        var settings = ConnectionSettings(
            address: try DatabaseAddress("postgres://postgres@/martlet?host=\(silent.directory),\(cluster.directory)"))
        settings.patience = .seconds(4)
        for _ in 0..<3 {
            let connection = try settings.connect()
            #expect(try connection.run(Batch(.rare([], "SELECT 7::int8")), patience)[0][0].integer(0) == 7)
        }
        #expect(silent.callers == 1, "the server that answered is tried first from then on")
        let other = ConnectionSettings(
            address: try DatabaseAddress("postgres://postgres@/martlet?host=\(silent.directory)"),
            patience: .milliseconds(50))
        #expect {
            _ = try other.connect()
        } throws: {
            "\($0)".contains("does not answer")
        }
    }

    @Test func aBrokenConnectionIsMadeAgain() async throws {
        let options = TestDatabase.fresh()
        let cluster = try #require(TestCluster.shared)
        let address = try DatabaseAddress("\(cluster.address)&application_name=\(options.schema)")
        let storage = try await PostgresStorage.open(address, sealer: PlainSealer(), options: options)
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let connection = try TestDatabase.settings().connect()
        let terminate = Statement.rare(
            [.text], "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1")
        for round in 0..<3 {
            let ended = try connection.run(Batch(terminate) { $0.add(options.schema) }, patience)[0]
            #expect(ended.count > 0)
            try await storage.probe()
            let draft = RegistrationDraft(
                platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("h\(round)"), handleKey: "h\(round)",
                tags: [])
            _ = try await storage.apply(.put(draft, id: "\(round)", condition: .none), in: hub, at: now).get()
        }
        let page = try await storage.registrations(RegistrationQuery(hub: hub, filter: .all, limit: 9, now: now))
        #expect(page.registrations.map(\.version) == [1, 1, 1])
        await storage.close()
    }

    @Test func aCommitWhoseAnswerIsLostIsStoredOnce() async throws {
        let cluster = try #require(TestCluster.shared)
        let proxy = try CuttingProxy(before: cluster.directory)
        let address = try DatabaseAddress("postgres://postgres@/martlet?host=\(proxy.directory)")
        let storage = try await PostgresStorage.open(
            address, sealer: PlainSealer(), options: TestDatabase.fresh())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        for round in 0...5 {
            // The first write also gives its platform a number, in a transaction of its own.
            if round > 0 { proxy.cutNextCommit() }
            let draft = RegistrationDraft(
                platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("a"), handleKey: "a", tags: [])
            let stored = try await storage.apply(.put(draft, id: "1", condition: .none), in: hub, at: now).get()
            #expect(stored.version == Int64(round) + 1, "the write was neither lost nor done twice")
            #expect(proxy.cutCount == round)
        }
        #expect(storage.devices.counts.unknownCommits == 5)
        await storage.close()
    }

    /// A server whose processes stand still closes no connection. When another one has replaced it, the lease is renewed
    /// there.
    @Test(.timeLimit(.minutes(10))) func aHubIsWrittenToAgainAfterItsCommitHungAndTheLeaseWasRenewed() async throws {
        let proxy = try CuttingProxy(before: try #require(TestCluster.shared).directory)
        let address = try DatabaseAddress("postgres://postgres@/martlet?host=\(proxy.directory)")
        var options = TestDatabase.fresh()
        let storage = try await PostgresStorage.open(address, sealer: PlainSealer(), options: options)
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        await storage.close()
        options.patience = .seconds(5)
        let node = try await PostgresStorage.open(address, sealer: PlainSealer(), options: options)
        func register() async throws(StorageError) -> Bool {
            let draft = RegistrationDraft(
                platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("a"), handleKey: "a", tags: [])
            guard case .success = try await node.apply(.put(draft, id: "1", condition: .none), in: hub, at: now)
            else { return false }
            return true
        }
        #expect(try await register())
        _ = try await node.nodes.renew()
        proxy.holdAtNextCommit()
        await #expect(throws: Transaction.unknown) { try await register() }
        var (isRenewed, isWritten) = (false, false)
        for _ in 0..<20 where !isRenewed { isRenewed = (try? await node.nodes.renew()) != nil }
        for _ in 0..<20 where !isWritten { isWritten = (try? await register()) ?? false }
        #expect(isRenewed && isWritten)
        await node.close()
    }

    @Test func whetherATransactionIsStoredIsKnownOnlyAfterItHasEnded() async throws {
        let options = TestDatabase.fresh()
        let storage = try await TestDatabase.open(options)
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let shard = Shard(hub)
        // A process of the server that has not come to its last statements yet.
        let slow = try TestDatabase.settings(options).connect()
        var beginning = Batch(.begin)
        beginning.add(Ordinals.locking) { $0.add(shard.number) }
        try slow.run(beginning, patience)
        let settings = try TestDatabase.settings(options)
        let answer = Task.detached {
            let transaction = Transaction(shard: shard, writer: 7, number: 1)
            return try transaction.isStored(
                Ordinals.self, fence: 2, try settings.connect(), .until(.now + .seconds(60)))
        }
        let watcher = try TestDatabase.settings(options).connect()
        let own = try slow.run(Batch(.rare([], "SELECT pg_backend_pid()")), patience)[0][0].integer32(0)
        let waiting = Statement.rare(
            [.int4], "SELECT 1 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid)) LIMIT 1")
        // At most the two seconds for which a lock is waited for.
        while try watcher.run(Batch(waiting) { $0.add(own) }, patience)[0].count == 0 { await Task.yield() }
        var ending = Batch(.rare([], "INSERT INTO writers (shard, writer, transaction) VALUES (\(shard.number), 7, 1)"))
        ending.add(.commit)
        try slow.run(ending, patience)
        #expect(try await answer.value)
        await storage.close()
    }

    @Test func aClosedStorageRefuses() async throws {
        let storage = try await TestDatabase.open(TestDatabase.fresh())
        await storage.close()
        await #expect { try await storage.probe() } throws: { ($0 as? StorageError)?.kind == .closed }
        await #expect {
            let feedback = [ChannelFeedback(channel: ChannelID(rawValue: 1), kind: .trusted)]
            _ = try await storage.apply(feedback, in: Hub.ID(rawValue: 1), at: now)
        } throws: {
            ($0 as? StorageError)?.kind == .closed
        }
    }
}

extension Result {
    fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}

/// Addresses of databases, which may have passwords.
struct DatabaseAddressTests {
    @Test(
        "An address with a password that is not encoded is refused, and nothing of it is shown",
        arguments: [
            "postgres://martlet:SECRET/pw4@127.0.0.1:55604/martlet", "postgres://martlet:12/SECRET@h/martlet",
            "postgres://martlet:SECRET/pw4/martlet",
        ])
    func aPasswordIsNotShown(_ url: String) {
        #expect {
            _ = try DatabaseAddress(url)
        } throws: {
            "\($0)".contains("%2F") && !"\($0)".contains("SECRET") && !"\($0)".contains("pw4")
        }
    }

    @Test(
        "An address is the same if its parameters are",
        arguments: [
            "postgres://u:p%2Fw@h1:1,h2/martlet", "postgres://postgres@/martlet?host=/run/pg", "postgresql://[::1]/m",
        ])
    func anAddressEqualsItself(_ url: String) throws {
        #expect(try DatabaseAddress(url) == DatabaseAddress(url))
        #expect(try DatabaseAddress(url) != DatabaseAddress("\(url)\(url.contains("?") ? "&" : "?")connect_timeout=9"))
    }
}
