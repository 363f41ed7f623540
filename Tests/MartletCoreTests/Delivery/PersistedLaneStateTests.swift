import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

/// What a restart must not forget of a lane.
struct PersistedLaneStateTests {
    @Test func aRestartDoesNotHurryAPlatformThatAskedToBeLeftAlone() async throws {
        let isStormy = Flag(true)
        let flight = try await Flight { _, _ in
            isStormy.isOn ? answered(503, ["retry-after": "3600"]) : answered(200)
        }
        try await flight.register(3)
        let first = try await flight.accept()
        let until = flight.time.now + .seconds(3600)
        guard case .paused(let lane, until) = try await flight.run(first) else {
            Issue.record("the platform is paused for an hour")
            return
        }
        flight.time.advance(by: .seconds(10))
        let restarted = try await Flight(flight)
        let second = try await restarted.accept()
        #expect(try await restarted.run(second) == .paused(lane, until: until))
        #expect(try await restarted.run(first) == .paused(lane, until: until))
        #expect(flight.transport.sent.count == 3)
        isStormy.isOn = false
        flight.time.advance(to: until)
        #expect(try await restarted.run(first) == .finished)
        #expect(try await restarted.run(second) == .finished)
        let again = try await Flight(restarted)
        #expect(again.lanes.isOpen(lane), "what is over is forgotten")
    }

    @Test func aRestartDoesNotHurryAnOriginThatAskedToBeLeftAlone() async throws {
        let flight = try await Flight(hasCredential: false) { _, _ in answered(503) }
        try await flight.hubs.setCredential(Credential([:]), for: HomingPigeon.platform, of: "aviary")
        for (number, loft) in ["https://a/1", "https://b/2"].enumerated() {
            _ = try await flight.registry.put(
                "r\(number)", in: flight.hub, platform: HomingPigeon.platform, handle: PushHandle(loft), tags: [])
        }
        let first = try await flight.accept(on: HomingPigeon.platform, to: .direct([PushHandle("https://a/1")]))
        guard case .waiting = try await flight.run(first) else {
            Issue.record("it waits for the origin")
            return
        }
        let restarted = try await Flight(flight)
        let second = try await restarted.accept(on: HomingPigeon.platform)
        guard case .waiting = try await restarted.run(second) else {
            Issue.record("it waits as well")
            return
        }
        #expect(flight.transport.sent.map(\.origin.host) == ["a", "b"], "only the other origin is asked")
    }

    @Test func aPauseByAClockThatWasAheadEndsWithTheLongestWait() {
        let now = Timestamp(seconds: 1_700_000_000)
        let pauses = [60, 90_000].map {
            LanePause(until: now + .seconds($0), outcome: .pnsUnavailable, reason: "status 503")
        }
        let lane = LaneID(hub: Hub.ID(rawValue: 1), platform: CarrierPigeon.platform)
        let state = PersistedLaneState(lane: lane, pauses: pauses, quarantines: ["loft"])
        let limited = state.limitingPauses(to: now + .seconds(7200))
        #expect(limited.pauses.map(\.until) == [60, 7200].map { now + .seconds($0) })
        #expect(limited.quarantines == ["loft"] && limited.lane == lane)
    }

    @Test func aQuarantineOutlastsARestart() async throws {
        let isWrong = Flag(true)
        let flight = try await Flight(pageSize: 100) { loft, _ in
            isWrong.isOn || loft == "loft1" ? answered(404) : answered(200)
        }
        try await flight.register(40)
        #expect(try await flight.run(try await flight.accept()) == .finished)
        #expect(flight.lanes.quarantines == [CarrierPigeon.platform: 1])
        #expect(flight.lanes.quarantinesByLane == [LaneID(hub: flight.hub, platform: CarrierPigeon.platform): 1])
        let restarted = try await Flight(flight)
        #expect(restarted.lanes.quarantines == [CarrierPigeon.platform: 1])
        for number in 1...30 {
            let one = try await restarted.accept(to: .direct([PushHandle("loft\(number)")]))
            #expect(try await restarted.run(one) == .finished)
        }
        try await restarted.register("single", id: "single", tags: ["alone"])
        let alone = try await restarted.accept(to: .audience(TagExpression("alone")))
        #expect(try await restarted.run(alone) == .finished)
        #expect(try await restarted.registry.registrations(in: flight.hub, limit: 100).registrations.count == 41)
        isWrong.isOn = false
        #expect(try await restarted.run(try await restarted.accept()) == .finished)
        #expect(restarted.alarms.all.last?.contains("succeed again") == true)
        let left = try await restarted.registry.registrations(in: flight.hub, limit: 100).registrations.map(\.id)
        #expect(left.count == 40 && !left.contains("r1"), "who is gone is called so again, and believed")
        #expect(try await Flight(restarted).lanes.quarantines[CarrierPigeon.platform] ?? 0 == 0)
    }

    @Test func outcomesOfOneTopicDoNotAffectAnother() {
        let board = LaneCircuitBreakers()
        let lane = LaneID(hub: Hub.ID(rawValue: 1), platform: CarrierPigeon.platform)
        let ready = SendContext(lane, nil, .refused(Outcome.noPushService(for: lane.platform)))
        let now = Timestamp(seconds: 1_000)
        func tally(_ status: Int, _ count: Int64, of topic: String) -> PageTally {
            var part = PageTally(
                platform: nil, policy: RetryPolicy(), now: now, expiresAt: now + .seconds(60), areRetries: false)
            if status == 200 { part.addSuccesses(Int(count)) }
            for number in 1...count where status != 200 {
                part.add(
                    Outcome(.wrongToken, .drop(asOf: nil, guarded: true)),
                    to: PageTally.Addressee(
                        member: AudienceMember(channel: ChannelID(rawValue: number)), handle: nil, attemptsBefore: 0),
                    chance: 0)
            }
            var page = part.emptied()
            page.merge(part, of: topic)
            return page
        }
        _ = board.record(tally(200, 100_000, of: "right").lane, ready, isCurrent: true, at: now)
        let wrong = board.record(tally(400, 5000, of: "wrong").lane, ready, isCurrent: true, at: now)
        #expect(wrong.gone == [] && wrong.quarantines == ["wrong": true])
        let right = board.record(tally(400, 10, of: "right").lane, ready, isCurrent: true, at: now)
        #expect(right.gone.count == 10 && right.quarantines == [:])
    }
}
