import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

struct DelivererTests {
    @Test func everyDeviceOfTheAudienceIsReachedOnceOverManyPages() async throws {
        let flight = try await Flight()
        try await flight.register(10)
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == (1...10).map { "loft\($0)" })
        let report = try await flight.report(delivery)
        #expect(report.state == .completed)
        #expect(report.counts == [.success: 10])
        #expect(report.startedAt != nil && report.endedAt != nil)
    }

    @Test func onlyDevicesThatTheExpressionMeansAreReached() async throws {
        let flight = try await Flight()
        try await flight.register("a", id: "1", tags: ["x"])
        try await flight.register("b", id: "2", tags: ["x", "y"])
        try await flight.register("c", id: "3")
        let delivery = try await flight.accept(to: .audience(TagExpression("x && !y")))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["a"])
    }

    @Test func aChannelWithSeveralRegistrationsIsReachedOnceAndTheOthersAreSkipped() async throws {
        let flight = try await Flight()
        try await flight.register("a", id: "1", tags: ["x"])
        try await flight.register("A", id: "2", tags: ["x"])
        let delivery = try await flight.accept(to: .audience(TagExpression("x")))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts.count == 1)
        #expect(try await flight.report(delivery).counts == [.success: 1, .skipped: 1])
    }

    @Test func aMessageThatMeansNobodyFindsNoTarget() async throws {
        let flight = try await Flight()
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).state == .noTargetFound)
    }

    @Test func aDirectSendReachesItsHandleWithoutARegistration() async throws {
        let flight = try await Flight()
        let delivery = try await flight.accept(to: .direct([PushHandle("loft9")]))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["loft9"])
        #expect(try await flight.report(delivery).counts == [.success: 1])
    }

    @Test func aPlatformThatNothingSendsToCompletesWithThatOutcomeForEveryDevice() async throws {
        let flight = try await Flight(hasCredential: false)
        for number in 1...7 {
            _ = try await flight.registry.put(
                "r\(number)", in: flight.hub, platform: MessageInABottle.platform,
                handle: PushHandle("Atlantic", "shore\(number)"), tags: [])
        }
        let delivery = try await flight.accept(on: MessageInABottle.platform)
        #expect(try await flight.run(delivery) == .finished)
        let report = try await flight.report(delivery)
        #expect(report.state == .completed)
        #expect(report.counts == [.noPushService: 7])
        #expect(flight.transport.sent.isEmpty)
        #expect(flight.alarms.all.isEmpty)
    }

    @Test func aDirectSendToAPlatformThatNothingSendsToSaysWhy() async throws {
        let flight = try await Flight()
        let delivery = try await flight.accept(
            on: MessageInABottle.platform, to: .direct([PushHandle("Atlantic", "north")]))
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.noPushService: 1])
        let refusals = try await flight.refusals(delivery)
        #expect(refusals.map(\.reason) == ["This server has nothing that sends to bottle yet."])
    }

    @Test func aDeviceRegisteredAfterTheAcceptanceIsNotInTheAudience() async throws {
        let flight = try await Flight()
        try await flight.register(2)
        let delivery = try await flight.accept()
        try await flight.register("late", id: "late")
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["loft1", "loft2"])
    }

    @Test func membersReachedByAnInterruptedRunAreNotSentToAgain() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(4)
        let delivery = try await flight.accept()
        let map = try flight.maps.map(for: delivery.id, through: delivery.lastNumber)
        map.insert(AudienceMember(channel: ChannelID(rawValue: 1)))
        map.insert(AudienceMember(channel: ChannelID(rawValue: 3)))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["loft2", "loft4"])
        #expect(try await flight.report(delivery).counts == [.success: 4])
    }

    @Test func aDeadHandleIsRemovedWithItsRegistrations() async throws {
        let flight = try await Flight { loft, _ in loft == "loft2" ? answered(404) : answered(200) }
        try await flight.register(3)
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 2, .badChannel: 1])
        let refusals = try await flight.refusals(delivery)
        #expect(refusals.map(\.handle) == [PushHandle("loft2")])
        #expect(refusals.map(\.registration) == ["r2"], "also when it has been removed for that")
        #expect(try await flight.registry.registration("r2", in: flight.hub) == nil)
        #expect(try await flight.registry.registration("r1", in: flight.hub) != nil)
    }

    @Test func aPlatformWhereEverythingLooksDeadDeletesNothing() async throws {
        let flight = try await Flight(pageSize: 50) { _, _ in answered(410) }
        try await flight.register(40)
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.expiredChannel: 40])
        #expect(try await flight.registry.registrations(in: flight.hub, limit: 100).registrations.count == 40)
        #expect(flight.alarms.all.count == 1)
        #expect(flight.alarms.all[0].contains("none is removed"))
    }

    @Test func anAnswerThatNamesTheHandleThatWasSentToChangesNothing() async throws {
        let flight = try await Flight { loft, _ in .success(HTTPResponse(301, body: .bytes(Array(loft.utf8)))) }
        try await flight.register("loft", id: "1")
        let before = try #require(await flight.registry.registration("1", in: flight.hub))
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 1])
        #expect(try await flight.registry.registration("1", in: flight.hub)?.version == before.version)
    }

    @Test func aReplacedHandleIsUsedFromThenOn() async throws {
        let flight = try await Flight { loft, _ in
            loft == "old" ? .success(HTTPResponse(301, body: .bytes(Array("new".utf8)))) : answered(200)
        }
        try await flight.register("old", id: "1")
        let first = try await flight.accept()
        #expect(try await flight.run(first) == .finished)
        let second = try await flight.accept()
        #expect(try await flight.run(second) == .finished)
        #expect(flight.transport.lofts == ["old", "new"])
    }

    @Test func aThrottledDeviceIsTriedAgainAtItsTimeWithTheSameID() async throws {
        let flight = try await Flight { loft, attempt in
            loft == "loft2" && attempt < 3 ? answered(429, ["retry-after": "10"]) : answered(200)
        }
        try await flight.register(3)
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .waiting(until: flight.time.now + .seconds(10)))
        #expect(flight.transport.lofts == ["loft1", "loft2", "loft3"])
        flight.time.advance(by: .seconds(10))
        #expect(try await flight.run(delivery) == .waiting(until: flight.time.now + .seconds(20)))
        flight.time.advance(by: .seconds(20))
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 3])
        #expect(Set(flight.transport.sent.filter { $0.loft == "loft2" }.map(\.id)).count == 1)
    }

    @Test func aStormPausesTheWholePlatformAndAProbeOpensItAgain() async throws {
        let isStormy = Flag(true)
        let flight = try await Flight(pageSize: 50) { _, _ in isStormy.isOn ? answered(503) : answered(200) }
        try await flight.register(30)
        let first = try await flight.accept()
        guard case .paused(let lane, let until) = try await flight.run(first) else {
            Issue.record("a storm makes the delivery wait")
            return
        }
        #expect(flight.transport.sent.count == 30)
        let second = try await flight.accept()
        #expect(try await flight.run(second) == .paused(lane, until: until))
        #expect(flight.transport.sent.count == 30, "nothing is sent into a pause")
        isStormy.isOn = false
        flight.time.advance(to: until)
        #expect(try await flight.run(second) == .finished)
        #expect(try await flight.run(first) == .finished)
        #expect(try await flight.report(first).counts == [.success: 30])
        #expect(try await flight.report(second).counts == [.success: 30])
    }

    @Test func aRefusedTokenIsRenewedOnceOnNewConnections() async throws {
        let flight = try await Flight { _, attempt in attempt == 1 ? answered(401) : answered(200) }
        try await flight.register(2)
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["loft1", "loft2", "loft1", "loft2"])
        #expect(Set(flight.transport.sent.map(\.partition)).count == 2)
        #expect(try await flight.report(delivery).counts == [.success: 2])
    }

    @Test func aBadCredentialStopsThePlatformKeepsHandlesAndWaits() async throws {
        let isWrong = Flag(true)
        let flight = try await Flight { _, _ in isWrong.isOn ? answered(403) : answered(200) }
        try await flight.register(9)
        let delivery = try await flight.accept()
        guard case .paused = try await flight.run(delivery) else {
            Issue.record("a bad credential makes the delivery wait")
            return
        }
        #expect(flight.transport.sent.count == 3, "one page shows it")
        #expect(flight.alarms.all.count == 1)
        #expect(flight.alarms.all[0].contains("InvalidCredentials, WrongWhistle"))
        isWrong.isOn = false
        flight.lanes.open(flight.hub)
        #expect(try await flight.run(delivery) == .finished, "at once, with the new credential")
        #expect(try await flight.report(delivery).counts == [.success: 9])
    }

    @Test func failuresWithAnOldCredentialDoNotDelayTheNewOne() async throws {
        let flight = try await Flight { _, attempt in attempt == 1 ? answered(403) : answered(200) }
        try await flight.register(1)
        let delivery = try await flight.accept()
        flight.transport.interrupt {
            try? await flight.hubs.setCredential(
                Credential(["Whistle": "new"]), for: CarrierPigeon.platform, of: "aviary")
            flight.lanes.open(flight.hub)
        }
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["loft1", "loft1"])
    }

    @Test func withoutACredentialEveryDeviceIsToldSoAtOnceAndKept() async throws {
        let flight = try await Flight(hasCredential: false)
        try await flight.register(7)
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.invalidCredentials: 7])
        #expect(flight.transport.sent.isEmpty)
        try await flight.giveCredential()
        #expect(try await flight.run(try await flight.accept()) == .finished, "nothing is paused by it")
        #expect(flight.transport.sent.count == 7)
    }

    @Test func aMessageToNobodyDoesNotWaitForAPausedPlatform() async throws {
        let flight = try await Flight { _, _ in answered(403) }
        try await flight.register(1)
        guard case .paused = try await flight.run(try await flight.accept()) else {
            Issue.record("a bad credential pauses the platform")
            return
        }
        let delivery = try await flight.accept(to: .audience(TagExpression("nobody")))
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).state == .noTargetFound)
    }

    @Test func aMessageThatNoDeviceCanTakeIsNotSentToTheNextPage() async throws {
        let flight = try await Flight { _, _ in answered(413) }
        try await flight.register(9)
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.sent.count == 3)
        #expect(try await flight.report(delivery).counts == [.invalidNotificationSize: 9])
    }

    @Test func unprocessedRequestsAreSentAgainAtOnceAndUnansweredOnesLater() async throws {
        let flight = try await Flight { loft, attempt in
            guard attempt == 1 else { return answered(200) }
            return .failure(TransportError(.timedOut, mayHaveBeenProcessed: true, "no answer"))
        }
        try await flight.register(1)
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .waiting(until: flight.time.now + .seconds(1)))
        flight.time.advance(by: .seconds(1))
        #expect(try await flight.run(delivery) == .finished)
        #expect(Set(flight.transport.sent.map(\.id)).count == 1)
    }

    @Test func aRetryDoesNotReachADeviceThatHasAnotherUserByThen() async throws {
        let flight = try await Flight { _, attempt in
            attempt == 1 ? answered(429, ["retry-after": "10"]) : answered(200)
        }
        try await flight.register("phone", id: "alice", tags: ["username:alice"])
        try await flight.register("tablet", id: "alice2", tags: ["username:alice"])
        try await flight.register("watch", id: "alice3", tags: ["username:alice"])
        let delivery = try await flight.accept(to: .audience(TagExpression("username:alice")))
        #expect(try await flight.run(delivery) == .waiting(until: flight.time.now + .seconds(10)))
        _ = try await flight.registry.put(
            "bob", in: flight.hub, platform: CarrierPigeon.platform, handle: PushHandle("phone"),
            tags: [Tag("username:bob")], takesHandle: true)
        _ = try await flight.registry.delete("alice2", in: flight.hub)
        flight.time.advance(by: .seconds(10))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["phone", "tablet", "watch", "watch"])
        #expect(try await flight.report(delivery).counts == [.success: 1, .channelThrottled: 2])
    }

    @Test func aRetryGoesToTheHandleThatTheDeviceHasByThen() async throws {
        let flight = try await Flight { loft, _ in loft == "old" ? answered(429, ["retry-after": "10"]) : answered(200)
        }
        try await flight.register("old", id: "1")
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .waiting(until: flight.time.now + .seconds(10)))
        let moved = ChannelFeedback(channel: delivery.bounds.channel, kind: .moved(PushHandle("new"), key: "new"))
        _ = try await flight.storage.apply([moved], in: flight.hub, at: flight.time.now)
        flight.time.advance(by: .seconds(10))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["old", "new"])
    }

    @Test func aServiceThatAnswersNothingPausesThePlatformAndOneDeliveryProbesIt() async throws {
        let isDead = Flag(true)
        let flight = try await Flight { _, _ in
            isDead.isOn
                ? .failure(TransportError(.timedOut, mayHaveBeenProcessed: true, "no answer")) : answered(200)
        }
        try await flight.register(3)
        let (first, second) = (try await flight.accept(), try await flight.accept())
        #expect(try await flight.run(first) == .waiting(until: flight.time.now + .seconds(1)))
        guard case .paused(let lane, let until) = try await flight.run(second) else {
            Issue.record("nothing is sent to a service that is down")
            return
        }
        flight.time.advance(to: until)
        #expect(flight.lanes.enter(lane, at: flight.time.now, probeDuration: .seconds(30)) == .probe)
        #expect(try await flight.run(second) == .paused(lane, until: flight.time.now + .seconds(1)))
        isDead.isOn = false
        flight.time.advance(by: .seconds(30))
        // All of them have failed: one is tried, and the others follow.
        guard case .waiting = try await flight.run(first) else {
            Issue.record("the others wait for it")
            return
        }
        #expect(flight.lanes.isOpen(lane))
        flight.time.advance(by: .seconds(2))
        #expect(try await flight.run(first) == .finished)
        #expect(try await flight.report(first).counts == [.success: 3])
    }

    @Test func unsentRequestsAtTheDeadlineAreRetriedAndPauseNoLane() async throws {
        let isCrowded = Flag(true)
        let flight = try await Flight { _, _ in
            isCrowded.isOn ? .failure(TransportError(.timedOut, mayHaveBeenProcessed: false, "no room")) : answered(200)
        }
        try await flight.register(2)
        let (first, second) = (try await flight.accept(), try await flight.accept())
        #expect(try await flight.run(first) == .waiting(until: flight.time.now + .seconds(1)))
        isCrowded.isOn = false
        #expect(try await flight.run(second) == .finished)
        flight.time.advance(by: .seconds(1))
        #expect(try await flight.run(first) == .finished)
        #expect(try await flight.report(first).counts == [.success: 2])
    }

    @Test func aServiceThatAnswersAgainIsOpenEvenIfItReachesNobody() async throws {
        let isDead = Flag(true)
        let flight = try await Flight { _, _ in
            isDead.isOn ? .failure(TransportError(.unreachable, mayHaveBeenProcessed: false, "down")) : answered(410)
        }
        try await flight.register(1)
        let delivery = try await flight.accept()
        guard case .paused(let lane, let until) = try await flight.run(delivery) else {
            Issue.record("nobody listens")
            return
        }
        isDead.isOn = false
        flight.time.advance(to: until)
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.lanes.isOpen(lane))
    }

    @Test func retriesLeftAtTheExpiryAreAbandonedAndCounted() async throws {
        let flight = try await Flight { _, _ in answered(429, ["retry-after": "40"]) }
        try await flight.register(7)
        let delivery = try await flight.accept(lifetime: .seconds(60))
        #expect(try await flight.run(delivery) == .waiting(until: flight.time.now + .seconds(40)))
        flight.time.advance(by: .seconds(61))
        #expect(try await flight.run(delivery) == .finished)
        let report = try await flight.report(delivery)
        #expect(report.counts == [.abandoned: 7])
        #expect(report.state == .abandoned)
    }
}

/// A switch that scripts read and tests turn.
final class Flag: Sendable {
    private let value: Mutex<Bool>

    init(_ isOn: Bool) {
        value = Mutex(isOn)
    }

    var isOn: Bool {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
