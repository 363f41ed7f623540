import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

/// What holds where handles are addresses, which anyone who registers them chooses.
struct OwnOriginTests {
    private func flight(
        pageSize: Int = 1000, _ lofts: [String],
        _ answer: @escaping ScriptedTransport.Answer = { _, _ in answered(201) }
    ) async throws -> Flight {
        let flight = try await Flight(pageSize: pageSize, hasCredential: false, answer)
        try await flight.hubs.setCredential(Credential([:]), for: HomingPigeon.platform, of: "aviary")
        for (number, loft) in lofts.enumerated() {
            _ = try await flight.registry.put(
                "r\(number)", in: flight.hub, platform: HomingPigeon.platform, handle: PushHandle(loft), tags: [])
        }
        return flight
    }

    @Test func everyOriginHasABatchWithATokenOfItsOwn() async throws {
        let flight = try await flight(["https://a/1", "https://b/2", "https://a/3"])
        let delivery = try await flight.accept(on: HomingPigeon.platform)
        #expect(try await flight.run(delivery) == .finished)
        let sent = flight.transport.sent.sorted { $0.loft < $1.loft }
        #expect(sent.map(\.loft) == ["1", "2", "3"])
        #expect(sent.map(\.origin.host) == ["a", "b", "a"])
        for push in sent { #expect(push.authorization?.hasPrefix("\(push.origin.host)-") == true) }
        #expect(try await flight.report(delivery).counts == [.success: 3])
    }

    @Test func templatesOfOneOriginShareABatchAndEachHasItsOwnBody() async throws {
        let flight = try await flight([])
        let bodies = ["x": #"{"a":"$(msg)"}"#, "y": #"{"b":"$(msg)"}"#]
        for loft in ["https://a/x", "https://b/x", "https://a/y", "nowhere"] {
            let template = Template(body: bodies[String(loft.last!)] ?? "{}")
            _ = try await flight.registry.put(
                "t\(loft.hashValue.magnitude)", in: flight.hub, platform: HomingPigeon.platform,
                handle: PushHandle(loft), tags: [], template: template)
        }
        let delivery = try await flight.acceptTemplate(on: HomingPigeon.platform)
        #expect(try await flight.run(delivery) == .finished)
        let sent = Set(flight.transport.sent.map { "\($0.origin.host)/\($0.loft) \($0.body)" })
        #expect(sent == [#"a/x {"a":"hi"}"#, #"b/x {"a":"hi"}"#, #"a/y {"b":"hi"}"#])
        #expect(flight.transport.batchCount == 2)
        #expect(try await flight.report(delivery).counts == [.success: 3, .badChannel: 1])
    }

    @Test func aLargeOriginIsCutSoThatSeveralCoresTakePart() async throws {
        let lofts = (0..<600).map { "https://a/\($0)" }
        let flight = try await flight(lofts)
        let delivery = try await flight.accept(on: HomingPigeon.platform)
        #expect(try await flight.run(delivery) == .finished)
        #expect(Set(flight.transport.lofts).count == 600)
        #expect(try await flight.report(delivery).counts == [.success: 600])
    }

    @Test func moreOriginsThanGoAtOnceAreAllServed() async throws {
        let flight = try await flight((0..<200).map { "https://host\($0)/x" })
        let delivery = try await flight.accept(on: HomingPigeon.platform)
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 200])
    }

    @Test(arguments: [
        TransportError.Kind.unresolved, .unreachable, .insecure, .disconnected, .reset, .timedOut,
    ])
    func anAddressThatCannotBeReachedPausesNobody(kind: TransportError.Kind) async throws {
        let flight = try await flight(["https://bad/1", "https://good/2"]) { loft, _ in
            loft == "1" ? .failure(TransportError(kind, mayHaveBeenProcessed: false, "")) : answered(201)
        }
        let delivery = try await flight.accept(on: HomingPigeon.platform)
        guard case .waiting = try await flight.run(delivery) else {
            Issue.record("only the one device waits")
            return
        }
        let lane = LaneID(hub: flight.hub, platform: HomingPigeon.platform)
        #expect(flight.lanes.isOpen(lane))
        #expect(try await flight.report(delivery).counts == [.success: 1])
    }

    @Test(arguments: [
        TransportError.Kind.unresolved, .unreachable, .insecure, .disconnected, .misbehaved, .reset, .timedOut,
    ])
    func reportsDoNotTellOpenPortsFromClosedOnesWhereClientsChooseTheAddress(kind: TransportError.Kind) {
        let error = TransportError(kind, mayHaveBeenProcessed: false, "")
        #expect(error.reason(at: .publicOnly) == "unreachable")
        #expect(error.reason(at: .publicOrLoopback) == "unreachable")
        #expect(error.reason(at: .any) == kind.rawValue)
    }

    @Test func theReasonOfATestSendIsTheSameForEveryFailureOfTheConnection() async throws {
        var reasons: Set<String> = []
        for kind in [TransportError.Kind.unresolved, .insecure, .timedOut] {
            let flight = try await flight(["https://elsewhere/1"]) { _, _ in
                .failure(TransportError(kind, mayHaveBeenProcessed: true, ""))
            }
            let content = Notification.Content.native(HomingPigeon.platform, Message(body: []))
            let sends = TestSends(
                devices: flight.storage, resolver: LaneResolver(hubs: flight.hubs, platforms: flight.platforms),
                sender: flight.deliverer.sender, time: flight.time)
            let report = try await sends.send(content, to: .audience(nil), in: flight.hub)
            reasons.formUnion(report.results.map(\.text))
        }
        #expect(reasons == ["PnsUnreachable: unreachable"])
    }

    @Test func aSingleSilentDevicePausesNoLane() async throws {
        let flight = try await flight(["https://bad/1"]) { _, _ in
            .failure(TransportError(.unreachable, mayHaveBeenProcessed: false, ""))
        }
        let delivery = try await flight.accept(on: HomingPigeon.platform)
        guard case .waiting = try await flight.run(delivery) else {
            Issue.record("only the one device waits")
            return
        }
        #expect(flight.lanes.isOpen(LaneID(hub: flight.hub, platform: HomingPigeon.platform)))
    }

    @Test func aHostThatAsksForAWaitIsLeftAloneAndOthersAreNot() async throws {
        let flight = try await flight(pageSize: 1, ["https://busy/1", "https://busy/2", "https://free/3"]) {
            loft, attempt in
            loft == "3" || attempt > 1 ? answered(201) : answered(503)
        }
        let delivery = try await flight.accept(on: HomingPigeon.platform)
        guard case .waiting(let until) = try await flight.run(delivery) else {
            Issue.record("the host is waited for")
            return
        }
        // The second loft of the busy host was not tried.
        #expect(flight.transport.lofts == ["1", "3"])
        #expect(until >= flight.time.now + .seconds(60))
    }

    @Test func aHostThatMisbehavesIsLeftAloneForLongAtOnceAndOthersAreNot() async throws {
        let flight = try await flight(pageSize: 1, ["https://bad/1", "https://bad/2", "https://good/3"]) { loft, _ in
            loft == "3"
                ? answered(201) : .failure(TransportError(.misbehaved, mayHaveBeenProcessed: true, "the peer floods"))
        }
        let delivery = try await flight.accept(on: HomingPigeon.platform)
        guard case .waiting(let until) = try await flight.run(delivery) else {
            Issue.record("the host is left alone")
            return
        }
        // The second loft of the bad host was not tried.
        #expect(flight.transport.lofts == ["1", "3"])
        #expect(until >= flight.time.now + .seconds(900))
        #expect(flight.lanes.isOpen(LaneID(hub: flight.hub, platform: HomingPigeon.platform)))
    }

    @Test func aDeviceThatCannotBeSentToIsRefusedAndTheOthersAreServed() async throws {
        let flight = try await flight(["https://a/blind", "nowhere", "https://a/1"])
        let delivery = try await flight.accept(on: HomingPigeon.platform)
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["1"])
        #expect(try await flight.report(delivery).counts == [.success: 1, .badChannel: 2])
    }

    @Test func aDeviceThatTheMessageIsNotForIsSkippedAndNothingIsKeptOfIt() async throws {
        let flight = try await flight(["https://a/choosy", "https://a/1"])
        let delivery = try await flight.accept(on: HomingPigeon.platform)
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["1"])
        #expect(try await flight.report(delivery).counts == [.success: 1, .skipped: 1])
        #expect(try await flight.refusals(delivery).isEmpty)
    }

    @Test func aTestSendTellsWhoWasSkipped() async throws {
        let flight = try await flight(["https://a/choosy", "https://a/1"])
        let sends = TestSends(
            devices: flight.storage, resolver: LaneResolver(hubs: flight.hubs, platforms: flight.platforms),
            sender: flight.deliverer.sender,
            time: flight.time)
        let content = Notification.Content.native(HomingPigeon.platform, Message(body: Array("hello".utf8)))
        let report = try await sends.send(content, to: .audience(nil), in: flight.hub)
        #expect([report.successes, report.failures] == [1, 1])
        #expect(report.results.map(\.text).contains { $0.contains("The loft takes no letters.") })
    }

    @Test func anOriginThatAnswersNothingIsLeftAloneAndProbedWithOneAndOthersAreServed() async throws {
        let isDead = Flag(true)
        let dead = (1...10).map { "https://bad/b\($0)" }
        let good = (1...10).map { "https://good/g\($0)" }
        let flight = try await flight(pageSize: 4, zip(dead, good).flatMap { [$0, $1] }) { loft, _ in
            loft.hasPrefix("b") && isDead.isOn
                ? .failure(TransportError(.timedOut, mayHaveBeenProcessed: true, "")) : answered(201)
        }
        let delivery = try await flight.accept(on: HomingPigeon.platform)
        guard case .waiting = try await flight.run(delivery) else {
            Issue.record("the dead origin's devices wait")
            return
        }
        // Two failures in each of the first two pages, and none in the other three.
        #expect(flight.transport.lofts.count { $0.hasPrefix("b") } == 4)
        #expect(try await flight.report(delivery).counts == [.success: 10])
        // The next ones go as single probes after pauses that double.
        let first = flight.transport.sent.count
        flight.time.advance(by: .seconds(5))
        guard case .waiting = try await flight.run(delivery) else {
            Issue.record("it is still dead")
            return
        }
        // One to a device that has not failed yet, and one to a device that has.
        #expect(flight.transport.sent.count == first + 2)
        isDead.isOn = false
        flight.time.advance(by: .seconds(600))
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 20])
    }

    private let lane = LaneID(hub: Hub.ID(rawValue: 1), platform: HomingPigeon.platform)
    private let origin = HTTPOrigin(scheme: .https, host: "a")
    private let start = Timestamp(seconds: 1000)

    private func wait(_ seconds: Int) -> Outcome {
        Outcome(.throttled, reason: "r", .retry(after: .seconds(seconds), scope: .origin))
    }

    private let silence = Outcome(.pnsUnreachable, reason: "timedOut", .retry(after: .seconds(1), scope: .origin))

    /// - Parameter failing: Devices that are not answered.
    private func record(
        _ outcomes: [Outcome], successes: Int = 0, failing: ClosedRange<Int64>? = nil,
        role: OriginCircuitBreaker.Role = .ordinary, in board: OriginCircuitBreakers, after time: Duration = .zero
    ) {
        var evidence = PushEvidence(startedAt: start + time)
        evidence.answers = successes + outcomes.count
        for number in failing.map(Array.init) ?? [] {
            evidence.add(.init(device: DeviceIdentity(ChannelID(rawValue: number)), outcome: silence))
        }
        let silences = failing.map { Array(repeating: silence, count: $0.count) } ?? []
        board.record(evidence, outcomes + silences, lane, origin, role: role, at: start + time)
    }

    private func enter(
        _ board: OriginCircuitBreakers, _ host: String = "a", after time: Duration = .zero
    ) -> OriginCircuitBreakers.Entry {
        let origin = HTTPOrigin(scheme: .https, host: host)
        return board.enter(lane, origin, at: start + time, probeDuration: .seconds(30))
    }

    @Test func theWaitThatAnOriginRequestsIsObeyedAndTheLongerOneCounts() {
        let board = OriginCircuitBreakers()
        record([wait(60), wait(10)], in: board)
        record([wait(10)], in: board)
        #expect(enter(board, after: .seconds(20)) == .paused(until: start + .seconds(60), wait(10)))
        #expect(enter(board, "b", after: .seconds(20)) == .free)
        #expect(board.pausedCounts == [HomingPigeon.platform: 1])
        record([], successes: 5, in: board)
        #expect(enter(board, after: .seconds(60)) == .probe, "what was under way does not end a pause")
        record([], successes: 1, role: .probe, in: board)
        #expect(enter(board, after: .seconds(60)) == .free)
        #expect(board.pausedCounts.isEmpty)
    }

    @Test func severalDevicesWithoutAnAnswerBetweenThemShowThatAnOriginFails() {
        let board = OriginCircuitBreakers()
        record([], failing: 1...2, in: board)
        record([Outcome(.unknownError, .refuse)], failing: 3...4, in: board)
        record([], failing: 5...6, in: board)
        #expect(enter(board) == .free)
        for _ in 0..<10 { record([], failing: 5...6, in: board) }
        #expect(enter(board) == .free, "the same two")
        record([], failing: 7...7, in: board)
        #expect(enter(board) == .paused(until: start + .seconds(5), silence))
    }

    @Test func anOriginToWhichNoConnectionCanBeMadeIsLeftAloneAfterTheThird() {
        let board = OriginCircuitBreakers()
        func record(_ count: Int) {
            var evidence = PushEvidence(startedAt: start)
            evidence.unreachable = count
            board.record(evidence, [silence], lane, origin, role: .ordinary, at: start)
        }
        record(2)
        #expect(enter(board) == .free)
        record(1)
        #expect(enter(board) == .paused(until: start + .seconds(5), silence))
    }

    @Test func strangersCannotFillTheBoard() {
        let board = OriginCircuitBreakers()
        func wait(_ host: String, after time: Duration = .zero) {
            var evidence = PushEvidence(startedAt: start + time)
            evidence.answers = 1
            let origin = HTTPOrigin(scheme: .https, host: host)
            board.record(evidence, [self.wait(60)], lane, origin, role: .ordinary, at: start + time)
        }
        for number in 0..<5000 { wait("h\(number)") }
        #expect(board.pausedCounts == [HomingPigeon.platform: 4096])
        wait("a")
        #expect(enter(board) == .free, "those that are paused stay")
        wait("a", after: .seconds(61))
        #expect(board.count == OriginCircuitBreakers.limit, "one whose pause is over makes room")
        #expect(enter(board, after: .seconds(61)) == .paused(until: start + .seconds(121), self.wait(60)))
        board.forget(lane.hub)
        #expect(board.count == 0)
    }
}
