import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

/// What holds where handles are addresses, which whoever registers them chooses.
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

    @Test func oneWhoAloneIsSilentPausesNobodyEither() async throws {
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
            devices: flight.storage, hubs: flight.hubs, platforms: flight.platforms, sender: flight.deliverer.sender,
            time: flight.time)
        let content = Notification.Content.native(HomingPigeon.platform, Message(body: Array("hello".utf8)))
        let report = try await sends.send(content, to: .audience(nil), in: flight.hub)
        #expect([report.successes, report.failures] == [1, 1])
        #expect(report.results.map(\.text).contains { $0.contains("The loft takes no letters.") })
    }

    @Test func holdsEndAndTheLongerOneStands() {
        let holds = OriginHolds()
        let lane = LaneID(hub: Hub.ID(rawValue: 1), platform: HomingPigeon.platform)
        let origin = HTTPOrigin(scheme: .https, host: "a")
        let now = Timestamp(seconds: 1000)
        func wait(_ seconds: Int) -> Outcome {
            Outcome(.throttled, reason: "r", .retry(after: .seconds(seconds), scope: .origin))
        }
        holds.note(wait(60), lane, origin, at: now)
        holds.note(wait(10), lane, origin, at: now)
        #expect(holds.outcome(lane, origin, at: now + .seconds(20)) == wait(40))
        #expect(holds.outcome(lane, HTTPOrigin(scheme: .https, host: "b"), at: now) == nil)
        #expect(holds.outcome(lane, nil, at: now) == nil)
        #expect(holds.outcome(lane, origin, at: now + .seconds(60)) == nil)
    }
}
