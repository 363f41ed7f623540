import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletConsole

struct LiveTests {
    private static let start = Timestamp(seconds: 1_700_000_040)

    private static func lane(_ platform: String, of hub: String = "shop") -> ConsoleSample.Lane {
        ConsoleSample.Lane(hub: hub, platform: platform)
    }

    @Test func aSecondsRateIsTheDifferenceOfTwoSamples() {
        var history = MetricHistory()
        var sample = ConsoleSample(at: Self.start)
        _ = history.add(sample)
        sample.at = Self.start + .seconds(2)
        sample.taken = ["a": 10]
        sample.waiting = 3
        _ = history.add(sample)
        #expect(history.secondJSON["taken"] == .object(["a": .double(5)]))
        let json = history.json(.minutes)
        #expect(json["taken"]?["a"]?.array?.suffix(3) == [.null, .double(5), .double(5)])
        #expect(json["waiting"]?.array?.count == 900)
    }

    @Test func aMinuteAndAnHourAreKeptWhenTheyEnd() {
        var history = MetricHistory()
        var ended: [MetricHistory.Hour] = []
        var sample = ConsoleSample(at: Self.start)
        for second in 0...3700 {
            sample.at = Self.start + .seconds(second)
            sample.taken = ["a": second * 2]
            if let hour = history.add(sample) { ended.append(hour) }
        }
        #expect(ended.count == 1 && ended.first?.figures["taken.a"] == 2)
        let minutes = history.json(.day)["taken"]?["a"]?.array ?? []
        #expect(minutes.suffix(2) == [.double(2), .double(2)])
        var restored = MetricHistory()
        if let hour = ended.first { restored.restore(hour) }
        #expect(restored.json(.month)["taken"]?["a"]?.array?.last == .double(2))
    }

    @Test func aClockThatIsSetBackBeginsAnew() {
        var history = MetricHistory()
        var sample = ConsoleSample(at: Self.start)
        sample.taken = ["a": 100]
        _ = history.add(sample)
        sample.at = Self.start + .seconds(-50)
        #expect(history.add(sample) == nil)
        sample.at = Self.start + .seconds(-49)
        sample.taken = ["a": 107]
        _ = history.add(sample)
        #expect(history.second["taken.a"] == 7)
    }

    @Test func aQuantileIsOfWhatWasAddedSince() {
        var old = Histogram(bounds: [.milliseconds(10), .milliseconds(20)])
        for _ in 0..<1000 { old.add(.milliseconds(15)) }
        var new = old
        #expect(new.quantile(0.5, since: old) == nil)
        for _ in 0..<10 { new.add(.milliseconds(5)) }
        #expect(new.quantile(0.5, since: old) == 0.005)
        #expect(new.quantile(1, since: old) == 0.01)
    }

    @Test func aQuietServerHasNothingToLookAt() {
        let sample = ConsoleSample(at: Self.start)
        #expect(AlertRules(sample, recent: [sample])?.alerts == [])
        #expect(AlertRules.state([]) == "ok")
    }

    @Test func eachRuleHasItsCode() throws {
        let before = ConsoleSample(at: Self.start)
        var sample = ConsoleSample(at: Self.start + .seconds(300))
        sample.obstacle = "The disk is full."
        sample.credentialEnds = [
            ConsoleSample.CredentialEnd(hub: "shop", platform: "a", at: sample.at + .seconds(86_400)),
            ConsoleSample.CredentialEnd(hub: "shop", platform: "b", at: Self.start),
            ConsoleSample.CredentialEnd(hub: "shop", platform: "c", at: sample.at + .seconds(40 * 86_400)),
        ]
        sample.certificateEndsAt = sample.at + .seconds(86_400)
        (sample.oldest, sample.wrongCredentials) = (4000, ["a": 1, "b": 0])
        sample.refusedCredentials = [Self.lane("a")]
        for _ in 0..<100 { sample.latency.add(.seconds(3)) }
        (sample.taken, sample.failed) = (["a": 70], ["a": 30])
        (sample.attempts, sample.failedAttempts) = (["a": 100], ["a": 20])
        (sample.quarantines, sample.pausedLanes) = ([Self.lane("a"): 1], [Self.lane("b")])
        sample.pausedOrigins = [Self.lane("c"): 2, Self.lane("d"): 0]
        sample.backupAt = Timestamp(seconds: 0)
        sample.disk = (free: 1_000_000, reserve: 100)
        let alerts = try #require(AlertRules(sample, recent: [before, sample])).alerts
        let errors = ["not-ready", "credential-refused", "credential-ended", "wrong-credential", "quarantine"]
        let warnings = [
            "credential-ends", "certificate-ends", "service-degraded", "oldest-waits", "latency", "failing",
            "lane-paused", "origin-paused", "backup-old", "disk-low",
        ]
        #expect(alerts.map(\.code) == errors + warnings)
        #expect(AlertRules.state(alerts) == "trouble")
        #expect(alerts.first { $0.code == "origin-paused" }?.json["count"] == 2)
        let refused = alerts.first { $0.code == "credential-refused" }
        #expect(refused?.hub == "shop" && refused?.platform == "a")
        #expect(alerts.first { $0.code == "wrong-credential" }?.platform == "a")
    }

    private static func failing(
        status: Int?, attempts: Int, since seconds: Int64, waiting: Int = 0, isWholeLane: Bool = true
    ) -> ConsoleSample.FailingService {
        let since = start + .seconds(-seconds)
        return ConsoleSample.FailingService(
            hub: "shop", platform: "a", origin: "https://push.example", origins: 1, since: since, lastAt: since,
            attempts: attempts, status: status, reason: "Storm", isWholeLane: isWholeLane,
            waiting: waiting == 0
                ? nil
                : ConsoleSample.FailingService.Waiting(
                    pushes: waiting, isPartial: false, notifications: 1, firstExpiry: start + .seconds(600),
                    next: start + .seconds(20)))
    }

    private static let outages: [(failing: ConsoleSample.FailingService, severity: String?)] = [
        (failing(status: 503, attempts: 2, since: 1), "error"), (failing(status: nil, attempts: 1, since: 3), "error"),
        (failing(status: 503, attempts: 9, since: 1, isWholeLane: false), "warning"),
        (failing(status: 503, attempts: 1, since: 1), nil), (failing(status: 429, attempts: 9, since: 50), nil),
        (failing(status: 429, attempts: 10, since: 50), "error"), (failing(status: 503, attempts: 9, since: 90), nil),
        (failing(status: 503, attempts: 9, since: 90, waiting: 40), "error"),
    ]

    @Test(arguments: outages)
    func aServiceThatTakesNothingIsAnAlertWithinSeconds(
        failing: ConsoleSample.FailingService, severity: String?
    ) throws {
        var sample = ConsoleSample(at: Self.start)
        sample.failingServices = [failing]
        let alert = try #require(AlertRules(sample, recent: [sample])).alerts.first
        #expect(alert?.severity.rawValue == severity)
        guard let alert else { return }
        #expect(alert.code == "service-failing" && alert.hub == "shop" && alert.json["since"] != nil)
        #expect(alert.json["waiting"]?.integer == Int64(failing.waiting?.pushes ?? 0))
        if failing.waiting != nil { #expect(alert.json["nextAt"]?.string == (Self.start + .seconds(20)).iso8601) }
    }

    @Test(arguments: [(100, 20, 0.2), (250, 249, 0.996), (100, 19, nil), (99, 99, nil)])
    func aServiceThatFailsPartOfTheTimeIsAnAlert(attempts: Int, failed: Int, share: Double?) throws {
        var before = ConsoleSample(at: Self.start)
        (before.attempts, before.failedAttempts) = (["a": 1000], ["a": 1000])
        var sample = ConsoleSample(at: Self.start + .seconds(300))
        (sample.attempts, sample.failedAttempts) = (["a": 1000 + attempts], ["a": 1000 + failed])
        let alerts = try #require(AlertRules(sample, recent: [before, sample])).alerts
        #expect(alerts.first?.json["share"] == share.map(JSON.double))
        #expect(alerts.count == (share == nil ? 0 : 1))
        sample.failingServices = [Self.failing(status: 503, attempts: 9, since: 1, waiting: 40)]
        let codes = try #require(AlertRules(sample, recent: [before, sample])).alerts.map(\.code)
        #expect(codes == ["service-failing"], "what takes nothing at all is told once")
    }

    @Test func anAlertOfOnesOwnHubIsNotLostAmongThoseOfOthers() async throws {
        let bench = try await ConsoleBench { time in
            var sample = ConsoleSample(at: time.now)
            for number in 10..<60 {
                sample.credentialEnds.append(
                    ConsoleSample.CredentialEnd(hub: "hub\(number)", platform: "a", at: time.now))
            }
            sample.credentialEnds.append(
                ConsoleSample.CredentialEnd(hub: "shop", platform: "a", at: time.now + .seconds(60)))
            return sample
        }
        let ops = try await bench.signIn("ops", "admin")
        let kim = try await bench.signIn("kim", "viewer@shop")
        func hubs(_ cookie: String) async -> [String?] {
            let answer = await bench.send(.get, "/console/api/alerts", cookie: cookie)
            return answer.json?["alerts"]?.array?.map { $0["hub"]?.string } ?? []
        }
        #expect(await hubs(kim) == ["shop"])
        #expect(await hubs(ops).count == 21)
    }

    @Test func anAlertAboutAHubIsForThoseWhoMaySeeTheHub() async throws {
        let bench = try await ConsoleBench { time in
            var sample = ConsoleSample(at: time.now)
            sample.quarantines = [Self.lane("a"): 1]
            sample.pausedLanes = [Self.lane("b")]
            sample.pausedOrigins = [Self.lane("c"): 2]
            // More in each sample than in the one before.
            sample.wrongCredentials = ["d": Int(time.now.seconds)]
            sample.disk = (free: 1000, reserve: 100)
            return sample
        }
        _ = try await bench.signIn("ops", "admin")
        func codes(_ roles: String) async throws -> Set<String> {
            let cookie = try await bench.signIn("kim\(roles.count)", roles)
            for _ in 0..<2 {
                _ = await bench.send(.get, "/console/api/alerts", cookie: cookie)
                bench.time.advance(by: .seconds(10))
            }
            let answer = await bench.send(.get, "/console/api/alerts", cookie: cookie)
            let alerts = answer.json?["alerts"]?.array ?? []
            for alert in alerts {
                let isOfServer = ["disk-low", "wrong-credential"].contains(alert["code"]?.string ?? "")
                #expect(alert["hub"]?.string == (isOfServer ? nil : "shop"))
            }
            return Set(alerts.compactMap { $0["code"]?.string })
        }
        let own: Set = ["quarantine", "lane-paused", "origin-paused", "disk-low"]
        #expect(try await codes("viewer@other") == ["disk-low"])
        #expect(try await codes("viewer@shop") == own)
        #expect(try await codes("viewer") == own.union(["wrong-credential"]))
    }

    @Test(arguments: ["", "now,", "later", "send:shop", "sends:", "now,now,now,now,now,now,now,now,now"])
    func topicsAreReadStrictly(text: String) {
        #expect(text == "now," ? Topic.list(text) != nil : Topic.list(text) == nil)
    }

    @Test func aMailboxHoldsOfEachKindTheNewest() {
        let mailbox = EventMailbox()
        for number in 0..<1000 { mailbox.post("second", Array("\(number) ".utf8)) }
        mailbox.post("alert", Array("a ".utf8))
        mailbox.end(Array("end".utf8))
        mailbox.post("second", Array("late".utf8))
        let (bytes, isEnded) = mailbox.take()
        #expect(String(decoding: bytes, as: UTF8.self) == "999 a end" && isEnded)
    }

    @Test func aSessionHasFourStreamsAnOperatorSixteenAndTheServerSixtyFour() {
        let streams = EventStreams()
        // Each operator has four sessions, and the first operator one more.
        func entry(_ session: UInt8) -> EventStreams.Entry {
            let session = OperatorSession(
                tokenHash: [session], operatorName: "ops\(session % 20 / 4)", createdAt: Self.start, usedAt: Self.start,
                confirmedAt: Self.start, address: "", agent: "")
            return EventStreams.Entry(
                mailbox: EventMailbox(), session: session, roles: RoleGrants([RoleGrant(.admin)]), topics: [.now])
        }
        var numbers: [UInt64] = []
        for session in [0, 1, 2, 3, 20] + Array(4..<17) {
            for index in 0..<5 {
                let number = streams.add(entry(UInt8(session)))
                #expect((number != nil) == (index < 4 && session < 16))
                numbers += [number].compactMap(\.self)
            }
        }
        #expect(numbers.count == 64)
        streams.remove(numbers[0])
        #expect(streams.add(entry(0)) != nil)
        streams.stop()
        streams.remove(numbers[1])
        #expect(streams.add(entry(0)) == nil)
    }

    @Test func theLastSixteenStreamsAreForAdministratorsOfTheWholeServer() {
        let streams = EventStreams()
        func add(_ session: UInt8, _ grant: RoleGrant) -> Bool {
            let session = OperatorSession(
                tokenHash: [session], operatorName: "ops\(session / 4)", createdAt: Self.start, usedAt: Self.start,
                confirmedAt: Self.start, address: "", agent: "")
            let entry = EventStreams.Entry(
                mailbox: EventMailbox(), session: session, roles: RoleGrants([grant]), topics: [.now])
            return streams.add(entry) != nil
        }
        for stream in 0..<48 { #expect(add(UInt8(stream / 4), RoleGrant(.viewer, hub: "shop"))) }
        #expect(!add(12, RoleGrant(.admin, hub: "shop")))
        #expect(add(13, RoleGrant(.admin)))
    }

    @Test func aStreamBeginsWithThePastAndEndsWithTheRole() async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let cookie = try await bench.signIn("kim", "viewer")
        let answer = await bench.send(.get, "/console/api/events?topics=now,sends:shop", cookie: cookie)
        #expect(answer.fields["content-type"] == "text/event-stream")
        guard case .stream(_, let write) = answer.body else {
            Issue.record("no stream")
            return
        }
        let writer = CollectingWriter()
        async let finished: Void = write(writer)
        await writer.wait(for: "event: past")
        _ = try await bench.directory.change("kim", .roles(RoleGrants([RoleGrant(.viewer, hub: "shop")])))
        try await finished
        let text = writer.text
        #expect(text.hasPrefix("retry: 2000\n\nevent: past\ndata: {"))
        #expect(text.hasSuffix("event: end\ndata: {\"reason\":\"roles\"}\n\n"))
        #expect(await bench.send(.get, "/console/api/session", cookie: cookie).code == "signed-out")
    }

    @Test func aStreamWhoseSessionEndsWhileItOpensEndsAtOnce() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("kim", "viewer")
        let answer = await bench.send(.get, "/console/api/events?topics=now", cookie: cookie)
        guard case .stream(_, let write) = answer.body else {
            Issue.record("no stream")
            return
        }
        // Nobody is told of this end, as nobody is who ended a session before the stream was known.
        let session = try #require(try await bench.storage.operatorSessions(of: "kim").first)
        _ = try await bench.storage.removeOperatorSession(tokenHash: session.tokenHash)
        let writer = CollectingWriter()
        try await write(writer)
        #expect(writer.text == "event: end\ndata: {\"reason\":\"signed-out\"}\n\n")
    }

    @Test func aSignInThatTakesThePlaceOfASessionEndsItsStreams() async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let cookie = try await bench.signIn("kim", "viewer")
        let answer = await bench.send(.get, "/console/api/events?topics=now", cookie: cookie)
        guard case .stream(_, let write) = answer.body else {
            Issue.record("no stream")
            return
        }
        let writer = CollectingWriter()
        async let finished: Void = write(writer)
        await writer.wait(for: "event: past")
        let body: JSON = ["name": "ops", "password": "secret-words"]
        #expect(await bench.send(.post, "/console/api/sign-in", cookie: cookie, body: body).status == .ok)
        try await finished
        #expect(writer.text.hasSuffix("event: end\ndata: {\"reason\":\"signed-out\"}\n\n"))
    }

    @Test func whatIsHeldIsUnderWayHoweverOldItIs() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("kim", "viewer")
        func send(_ id: String, _ control: String, goesOnAt: JSON = .null) -> JSON {
            [
                "id": .string(id), "cursor": "9", "control": .string(control), "goesOnAt": goesOnAt,
                "endedAt": .null, "state": "Processing",
            ]
        }
        let (canary, paused) = (send("a", "holding", goesOnAt: "2026-11-26T14:00:00Z"), send("b", "paused"))
        let path = "/hubs/shop/sends?limit=20"
        bench.administration.answer(path, ["sends": [send("c", "running"), paused]])
        bench.administration.answer(path + "&state=held", ["sends": [paused, canary]])
        let answer = await bench.send(.get, "/console/api/events?topics=sends:shop", cookie: cookie)
        guard case .stream(_, let write) = answer.body else {
            Issue.record("no stream")
            return
        }
        let writer = CollectingWriter()
        async let finished: Void = write(writer)
        await writer.wait(for: "event: past")
        try await bench.directory.endSessions(of: "kim")
        try await finished
        let data = try #require(writer.text.split(separator: "\n").first { $0.hasPrefix("data: ") }?.dropFirst(6))
        let running = try JSON(parsing: Array(data.utf8))["sends"]?["shop"]?["running"]?.array
        #expect(running?.map { $0["id"]?.string } == ["a", "b", "c"])
        #expect(running?.map { $0["goesOnAt"] } == ["2026-11-26T14:00:00Z", .null, .null])
    }

    @Test func aStreamAboutAHubNeedsARoleThere() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("kim", "viewer@other")
        let answer = await bench.send(.get, "/console/api/events?topics=sends:shop", cookie: cookie)
        #expect(answer.code == "forbidden")
    }
}

/// Collects a streamed body, and tells when a text is in it.
private final class CollectingWriter: HTTPBodyWriter {
    private struct State {
        var bytes: [UInt8] = []
        var waiting: (text: String, wake: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

    func write(_ bytes: [UInt8]) async throws {
        let wake = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.bytes += bytes
            guard let waiting = state.waiting, String(decoding: state.bytes, as: UTF8.self).contains(waiting.text)
            else {
                return nil
            }
            state.waiting = nil
            return waiting.wake
        }
        wake?.resume()
    }

    func wait(for text: String) async {
        await withCheckedContinuation { wake in
            let isThere = state.withLock { state in
                guard !String(decoding: state.bytes, as: UTF8.self).contains(text) else { return true }
                state.waiting = (text, wake)
                return false
            }
            if isThere { wake.resume() }
        }
    }
}
