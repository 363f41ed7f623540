import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

/// A push service that takes nothing is known before its pushes fail for good.
struct FailingServicesTests {
    private func failing(_ flight: Flight) -> [ServiceFailure] { flight.deliverer.sender.failing.all }

    @Test func aServiceThatAnswers503ToEverythingIsFailingUntilItTakesAPush() async throws {
        let flight = try await Flight { _, attempt in answered(attempt == 1 ? 503 : 200) }
        try await flight.register(3)
        let delivery = try await flight.accept()
        let beginning = flight.time.now
        guard case .paused = try await flight.run(delivery) else {
            Issue.record("the pushes wait for another attempt")
            return
        }
        let failure = try #require(failing(flight).first)
        #expect(failing(flight).count == 1)
        #expect(failure.lane == LaneID(hub: flight.hub, platform: CarrierPigeon.platform))
        #expect(failure.since == beginning && failure.attempts == 3 && failure.status == 503 && failure.isWholeLane)

        flight.time.advance(by: .seconds(60))
        #expect(try await flight.run(delivery) == .finished)
        #expect(failing(flight).isEmpty)
    }

    @Test func aServiceThatRefusesADeviceForGoodIsNotFailing() async throws {
        let flight = try await Flight { loft, _ in answered(loft == "loft1" ? 410 : 503) }
        try await flight.register(3)
        _ = try await flight.run(try await flight.accept())
        #expect(failing(flight).isEmpty)
    }

    @Test func anotherOriginThatWorksIsToldFromAnOutageOfThePlatform() {
        let failing = FailingServices()
        let lane = LaneID(hub: Hub.ID(rawValue: 1), platform: HomingPigeon.platform)
        let refused = ResultCollector.Answer(
            index: 0, outcome: Outcome(.pnsUnavailable, reason: "Storm", .retry(after: .seconds(1), scope: .device)),
            status: 503, at: Timestamp(seconds: 100))
        failing.record(0, [refused], of: lane, "https://a")
        failing.record(4, [refused], of: lane, "https://b")
        #expect(failing.all.map(\.origin) == ["https://a"] && failing.all.first?.isWholeLane == false)
        failing.forget(lane.hub)
        #expect(failing.all.isEmpty)
    }

    @Test func aRequestThatWasNeverSentSaysNothing() {
        let failing = FailingServices()
        let lane = LaneID(hub: Hub.ID(rawValue: 1), platform: HomingPigeon.platform)
        failing.record(
            0, [ResultCollector.Answer(index: 0, outcome: .noTurn, at: Timestamp(seconds: 100))], of: lane, "https://a")
        #expect(failing.all.isEmpty)
    }

    @Test func originsThatDevicesChooseAreLimited() {
        let failing = FailingServices()
        let lane = LaneID(hub: Hub.ID(rawValue: 1), platform: HomingPigeon.platform)
        let answer = ResultCollector.Answer(
            index: 0, outcome: Outcome(.pnsUnreachable, .retry(after: .seconds(1), scope: .origin)),
            at: Timestamp(seconds: 100))
        for number in 0..<FailingServices.limit + 10 { failing.record(0, [answer], of: lane, "https://\(number)") }
        #expect(failing.all.count == FailingServices.limit)
        failing.record(1, [], of: lane, "https://0")
        failing.record(0, [answer], of: lane, "https://new")
        #expect(failing.all.count == FailingServices.limit && failing.all.contains { $0.origin == "https://new" })
    }
}
