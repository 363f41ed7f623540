import MartletCore
import MartletModel
import Testing

@testable import MartletPostgres

struct ConnectionRuleTests {
    private let address: DatabaseAddress

    init() throws {
        address = try DatabaseAddress("postgres://ann:s%65cret@h1:5433,h2/martlet?sslmode=require")
    }

    @Test func anAddressIsDescribedWithoutItsPassword() throws {
        #expect(address.description == "the database 'martlet' on h1:5433,h2:5432")
        #expect(address.value("password") == "secret")
        for (url, place) in [
            ("postgres://h/d", "h:5432"), ("postgres://[::1]:7/d", "[::1]:7"),
            ("postgres:///d", "the local socket, port 5432"),
            ("postgres:///d?host=/run/pg", "/run/pg, port 5432"), ("postgres:///d?host=a,b&port=7", "a:7,b:7"),
        ] {
            #expect(try DatabaseAddress(url).description == "the database 'd' on \(place)")
        }
        #expect(!"\(address)".contains("secret"))
    }

    @Test(arguments: [
        "martlet", "host=h dbname=d", "postgres://ann:secret@h:x/", "postgres://h/d?secret=1", "postgres://h",
    ])
    func anAddressThatIsNoneIsRefusedWithoutRepeatingIt(_ text: String) {
        #expect {
            _ = try DatabaseAddress(text)
        } throws: { error in
            let sentence = "\(error)"
            return sentence.contains("postgres://USER@HOST/NAME") && !sentence.contains("secret")
        }
    }

    @Test func theServersOfAnAddressAreTriedOneByOne() throws {
        #expect(
            address.servers.map(\.description) == [
                "the database 'martlet' on h1:5433", "the database 'martlet' on h2:5432",
            ])
        for (url, servers) in [
            ("postgres://h1,h2,h3/d?port=7", ["h1/7", "h2/7", "h3/7"]), ("postgres:///d", ["/"]),
            ("postgres:///d?host=h1,h2&hostaddr=::1,127.0.0.1", ["h1/", "h2/"]),
            ("postgres://h1:1,h2:2/d?hostaddr=::1", ["h1,h2/1,2"]),
        ] {
            let found = try DatabaseAddress(url).servers
            #expect(found.map { "\($0.value("host") ?? "")/\($0.value("port") ?? "")" } == servers)
            #expect(found.allSatisfy { $0.value("dbname") == "d" })
        }
    }

    @Test func onlyAServerThatTakesWritesIsEverUsed() throws {
        let asked = try DatabaseAddress(
            "postgres://h/d?target_session_attrs=any&client_encoding=LATIN1&tcp_user_timeout=9")
        let complete = Dictionary(asked.complete().map { ($0.name, $0.value) }) { _, last in last }
        #expect(complete["target_session_attrs"] == "read-write")
        #expect(complete["client_encoding"] == "UTF8")
        #expect(complete["tcp_user_timeout"] == "9", "what the address says about time is kept")
    }

    @Test func aMoveWaitsForAServerThatDoesNotReadForAWhile() throws {
        for (url, expected) in [("postgres://h/d", "120000"), ("postgres://h/d?tcp_user_timeout=9", "9")] {
            let complete = try DatabaseAddress(url).complete(breakingAfter: BulkConnection.silence)
            #expect(complete.filter { $0.name == "tcp_user_timeout" }.map(\.value) == [expected])
        }
    }

    @Test func aStandbyIsTheReasonOnlyIfAllServersAreStandbys() {
        let (standby, refused) = ("session is read-only", "Connection refused")
        #expect(ConnectFailure(ofServers: [standby, refused]) == .refused)
        #expect(ConnectFailure(ofServers: [standby, standby]) == .readOnly)
        #expect(ConnectFailure(ofServers: [refused, "the database system is starting up"]) == .starting)
    }

    @Test(arguments: [
        ("FATAL:  password authentication failed for user \"ann\"", ConnectFailure.wrongPassword),
        ("fe_sendauth: no password supplied", .wrongPassword),
        ("FATAL:  database \"martlet\" does not exist", .noDatabase), ("FATAL:  role \"ann\" does not exist", .noUser),
        ("could not translate host name \"h1\" to address: Name or service not known", .noAddress),
        ("connection to server at \"h1\", port 5433 failed: Connection refused", .refused),
        ("FATAL:  sorry, too many clients already", .tooManyConnections),
        ("FATAL:  remaining connection slots are reserved for roles", .tooManyConnections),
        ("connection to server failed: session is read-only", .readOnly),
        ("FATAL:  the database system is starting up", .starting),
        ("FATAL:  no pg_hba.conf entry for host \"::1\"", .noEntry),
        ("server does not support SSL, but SSL was required", .noTLS),
        ("invalid port number: \"99999\"", .noPort),
        ("invalid integer value \"x\" for connection option \"port\"", .noPort), ("FATAL:  nanu", .other),
    ])
    func aFailedConnectionSaysWhatToDo(_ message: String, _ failure: ConnectFailure) {
        #expect(ConnectFailure(message) == failure)
        let sentence = failure.sentence(for: address)
        #expect(
            sentence.contains("the database 'martlet' on h1:5433,h2:5432")
                || sentence.contains("The database 'martlet'"))
        #expect(!sentence.contains("secret"))
        #expect(sentence.hasSuffix("."))
    }

    @Test func aServerIsExaminedBeforeItIsUsed() throws {
        let good = ServerCheck(
            version: 150_018, encoding: "UTF8", collation: "C", isStandby: false, isReadOnly: false, connections: 97)
        #expect(good.fault(of: address) == nil)
        let faults: [(String, (inout ServerCheck) -> Void)] = [
            ("PostgreSQL 14 is too old", { $0.version = 140_003 }), ("is a standby", { $0.isStandby = true }),
            ("is a standby", { $0.isReadOnly = true }), ("SQL_ASCII, not UTF8", { $0.encoding = "SQL_ASCII" }),
            ("is en_US.UTF-8, not C", { $0.collation = "en_US.UTF-8" }),
            (
                "There are 5 connections to the database 'martlet' on h1:5433,h2:5432, and a node needs 7",
                { $0.connections = 5 }
            ),
        ]
        for (words, spoil) in faults {
            var check = good
            spoil(&check)
            let fault = try #require(check.fault(of: address))
            #expect(fault.kind == .unavailable)
            #expect(fault.detail.contains(words), "\(fault.detail)")
        }
    }

    @Test func aRefusalOfTheServerIsToldByItsCode() {
        #expect(SQLState("53100").storageError.kind == .full)
        #expect(SQLState("53200").storageError.kind == .full)
        #expect(SQLState("25006").endsConnection)
        #expect(SQLState("57P01").endsConnection)
        #expect(!SQLState.queryCanceled.endsConnection)
        for state in [SQLState.deadlock, .serializationFailure, .uniqueViolation] {
            #expect(DatabaseFailure.refused(state).isTransient)
        }
        #expect(DatabaseFailure.refused(.uniqueViolation).isAboutValues)
        #expect(!DatabaseFailure.refused(.lockNotAvailable).isAboutValues, "one by one would only take longer")
        #expect(!DatabaseFailure.late.isAboutValues)
        #expect(SQLState("XX000").storageError.detail.contains("SQLSTATE XX000"))
    }

    @Test func aConnectionIsMadeAgainAtOnceAndThenLessAndLessOften() {
        var state = ReconnectionState()
        var now = ContinuousClock.now
        #expect(state.step(at: now) == .connect)
        var waits: [Duration] = []
        for _ in 0..<8 {
            state.fail(.lost("gone"), at: now)
            #expect(state.step(at: now) == .refuse(.lost("gone")), "callers hear the reason without waiting")
            let failedAt = now
            while state.step(at: now) != .connect { now += .milliseconds(10) }
            waits.append(now - failedAt)
        }
        #expect(waits.prefix(3) == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
        #expect(waits.last == .seconds(2))
        state.succeed()
        #expect(state == ReconnectionState())
    }

    @Test func aConnectionKeepsTheStatementsThatWereUsedLast() {
        var prepared = PreparedStatements(limit: 2)
        #expect(prepared.use("a") == .init(name: "s0", isNew: true))
        #expect(prepared.use("b") == .init(name: "s1", isNew: true))
        #expect(prepared.use("a") == .init(name: "s0"))
        #expect(prepared.use("c") == .init(name: "s2", isNew: true, evicted: "s1"))
        prepared.forget("c")
        #expect(prepared.use("c").isNew)
    }

    @Test(arguments: ["", "ab", "AB", "abc", "0a1f", "0a1g", "\u{0}x", "ünï", "a\nb\nc"])
    func aHandleComesBackFromItsStoredForm(_ text: String) {
        let bytes = StoredForm.handle(text)
        #expect(bytes.withUnsafeBytes { StoredForm.handle($0) } == text)
    }

    @Test(arguments: [
        "", "x", "1234567890123456789-1234567890123456789-1", "0234567890123456789-1234567890123456789-1",
    ])
    func anIDComesBackFromItsStoredForm(_ text: String) {
        #expect(StoredForm.id(StoredForm.id(text)) == text)
    }

    @Test func everyFormOfAnAudienceNamesItsShard() throws {
        let expression = try TagExpression("(a || b) && !c")
        let forms: [AudienceStatement.Form] = [.dense, .sparse(.all), .sparse(.any), .listedChannels, .listedMembers]
        for form in forms {
            let statement = AudienceStatement(expression, form, withHandles: true)
            #expect(statement.statement.sql.contains("r.shard = $1"))
            #expect(statement.tags.map(\.folded) == ["a", "b", "c"])
            #expect(statement.statement.types.count == 11 + (form == .dense ? 0 : form == .listedMembers ? 2 : 1))
        }
    }

    @Test func membersAreFoundByTheTagsThatTheyNeed() throws {
        func anchor(_ text: String) throws -> String? {
            guard let (anchor, tags) = AudienceAnchor.tags(of: try TagExpression(text)) else { return nil }
            return "\(anchor) \(tags.map(\.folded).sorted())"
        }
        #expect(try anchor("a && b && !c") == "all [\"a\", \"b\"]")
        #expect(try anchor("a || b") == "any [\"a\", \"b\"]")
        #expect(try anchor("(a || b) && c") == "all [\"c\"]")
        #expect(try anchor("!a") == nil)
        #expect(AudienceAnchor.tags(of: nil) == nil)
    }
}
