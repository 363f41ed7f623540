import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct DeliveryMetricsTests {
    private let platform = CarrierPigeon.platform

    @Test func eachPageIsCountedOnceWithAllItsPushes() async throws {
        let flight = try await Flight(pageSize: 3)
        try await flight.register(7)
        let delivery = try await flight.accept()
        flight.time.advance(by: .seconds(4))
        #expect(try await flight.run(delivery) == .finished)
        let figures = flight.metrics.figures
        #expect(figures.attempts == [platform: 7])
        #expect(figures.outcomes == [platform: [.success: 7]])
        let latency = try #require(figures.latency[platform])
        #expect(latency.count == 3)
        #expect(latency.sum == .seconds(12))
    }

    @Test func aRetryIsAnAttemptThatHasNoLatencyAndCountsAsOneOutcome() async throws {
        let flight = try await Flight { _, attempt in
            attempt == 1 ? answered(429, ["retry-after": "10"]) : answered(200)
        }
        try await flight.register(1)
        let delivery = try await flight.accept()
        guard case .waiting(let due) = try await flight.run(delivery) else {
            Issue.record("There is no retry.")
            return
        }
        #expect(flight.metrics.figures.outcomes == [:])
        flight.time.advance(by: due - flight.time.now)
        #expect(try await flight.run(delivery) == .finished)
        let figures = flight.metrics.figures
        #expect(figures.attempts == [platform: 2])
        #expect(figures.failures == [platform: 1])
        #expect(figures.outcomes == [platform: [.success: 1]])
        #expect(figures.latency[platform]?.count == 1)
    }

    @Test func aSendThatWasPausedIsNotLate() async throws {
        let flight = try await Flight()
        try await flight.register(2)
        let delivery = try await flight.accept()
        let id = delivery.notification.id
        _ = try await flight.controls.apply(.pause, to: id, in: flight.hub)
        #expect(try await flight.run(delivery) == .held(until: delivery.notification.expiresAt))
        flight.time.advance(by: .seconds(3600))
        _ = try await flight.controls.apply(.resume, to: id, in: flight.hub)
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.metrics.figures.attempts == [platform: 2])
        #expect(flight.metrics.figures.latency.isEmpty)
        #expect(flight.board.count == 0)
        let other = try await flight.accept()
        #expect(try await flight.run(other) == .finished)
        #expect(flight.metrics.figures.latency[platform]?.count == 1, "one that ran through is counted")
    }

    @Test func thePaceOfARollOutIsNoDelay() async throws {
        let flight = try await Flight()
        try await flight.register(20)
        var draft = NotificationDraft(
            id: NotificationID(at: flight.time.now), hub: flight.hub,
            content: .native(platform, Message(body: [1])), target: .audience(nil),
            acceptedAt: flight.time.now, expiresAt: flight.time.now + .seconds(86_400))
        draft.rollout = Rollout(.rate(4))
        guard case .accepted(_, let deliveries) = try await flight.storage.accept(draft) else {
            Issue.record("It was not accepted.")
            return
        }
        while case .waiting(let until) = try await flight.run(deliveries[0]) { flight.time.advance(to: until) }
        #expect(flight.metrics.figures.attempts == [platform: 20])
        #expect(flight.metrics.figures.latency.isEmpty)
    }

    @Test func whatIsGivenUpIsAnOutcome() async throws {
        let flight = try await Flight { _, _ in answered(429, ["retry-after": "10"]) }
        try await flight.register(2)
        let delivery = try await flight.accept()
        _ = try await flight.run(delivery)
        flight.time.advance(by: .seconds(86_400))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.metrics.figures.outcomes == [platform: [.abandoned: 2]])
    }

    @Test func pushesThatAreNotSentAreNoAttempts() async throws {
        let flight = try await Flight(hasCredential: false)
        try await flight.register(2)
        #expect(try await flight.run(try await flight.accept()) == .finished)
        #expect(flight.metrics.figures.attempts == [:])
        #expect(flight.metrics.figures.outcomes == [platform: [.invalidCredentials: 2]])
        #expect(flight.metrics.figures.latency.isEmpty)
    }
}
