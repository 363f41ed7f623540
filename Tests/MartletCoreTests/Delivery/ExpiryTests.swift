import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

struct ExpiryTests {
    private func intake(_ flight: Flight) -> NotificationIntake {
        NotificationIntake(store: flight.storage, platforms: flight.platforms, time: flight.time, accepted: { _ in })
    }

    private func accept(
        _ flight: Flight, dueIn wait: Duration? = nil, _ expiry: Expiry?
    ) async throws -> Notification {
        let intake = intake(flight)
        let id = try await intake.accept(
            .native(CarrierPigeon.platform, Message(body: [1])), to: .audience(nil), in: flight.hub,
            dueAt: wait.map { flight.time.now + $0 }, expiry: expiry)
        return try #require(try await intake.report(id, in: flight.hub)).notification
    }

    private func refusal(_ flight: Flight, dueIn wait: Duration? = nil, _ expiry: Expiry) async throws -> String? {
        do {
            _ = try await accept(flight, dueIn: wait, expiry)
            return nil
        } catch NotificationIntakeError.invalid(let sentence) {
            return sentence
        }
    }

    @Test func itIsSaidAsATimeOrCountsFromWhenTheNotificationGoesOut() async throws {
        let flight = try await Flight()
        let now = flight.time.now
        let hour = Duration.seconds(3600)
        #expect(try await accept(flight, nil).expiresAt == now + .seconds(86_400))
        #expect(try await accept(flight, nil).statesExpiry == false)
        #expect(try await accept(flight, .after(hour)).expiresAt == now + hour)
        #expect(try await accept(flight, .after(hour)).statesExpiry)
        #expect(try await accept(flight, dueIn: hour, .after(hour)).expiresAt == now + hour * 2)
        #expect(try await accept(flight, .at(now + hour)).expiresAt == now + hour)
        #expect(try await accept(flight, .after(Expiry.limit)).expiresAt == now + .seconds(28 * 86_400))
        let late = try await accept(flight, dueIn: hour, .at(now + hour + Expiry.limit))
        #expect(late.expiresAt == now + hour + Expiry.limit)
    }

    @Test func itIsRefusedWhereNothingCouldBeSentOrForTooLong() async throws {
        let flight = try await Flight()
        let now = flight.time.now
        let tooLate = "A notification expires at most 28 days after it goes out."
        #expect(try await refusal(flight, .after(Expiry.limit + .milliseconds(1))) == tooLate)
        #expect(try await refusal(flight, .after(.seconds(Int64.max))) == tooLate)
        #expect(try await refusal(flight, .at(now + Expiry.limit + .milliseconds(1))) == tooLate)
        #expect(try await refusal(flight, .at(.distantFuture)) == tooLate)
        for expiry in [Expiry.at(now), .at(now + .seconds(-1)), .after(.zero)] {
            #expect(try await refusal(flight, expiry)?.hasPrefix("The notification would expire before it") == true)
        }
        let due = (now + .seconds(60)).iso8601
        #expect(
            try await refusal(flight, dueIn: .seconds(60), .at(now + .seconds(30)))
                == "The notification would expire before it goes out, at \(due).")
        #expect(try await flight.storage.unfinished(after: .none, limit: 9).isEmpty)
    }

    @Test func nothingIsTriedAfterItAndWhoIsLeftCountsAsAbandoned() async throws {
        let flight = try await Flight(pageSize: 10) { _, attempt in answered(attempt < 3 ? 429 : 200) }
        try await flight.register(3)
        let delivery = try await flight.accept(lifetime: .seconds(2))
        #expect(try await flight.run(delivery) == .waiting(until: flight.time.now + .seconds(1)))
        flight.time.advance(by: .seconds(1))
        // The next one would come when it has expired.
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.sent.count == 6)
        let report = try await flight.report(delivery)
        #expect(report.state == .completed)
        #expect(report.counts == [.abandoned: 3])
    }

    @Test func aNotificationThatExpiresBeforeItsFirstPageIsNotSent() async throws {
        let flight = try await Flight()
        try await flight.register(3)
        let delivery = try await flight.accept(lifetime: .seconds(60))
        flight.time.advance(by: .seconds(60))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.sent.isEmpty)
        #expect(try await flight.report(delivery).state == .abandoned)
    }

    @Test func notificationsThatExpireWhileTheirPlatformIsPausedAreNotSent() async throws {
        let flight = try await Flight { _, _ in answered(503, ["retry-after": "3600"]) }
        try await flight.register(2)
        let delivery = try await flight.accept(lifetime: .seconds(30))
        let end = flight.time.now + .seconds(30)
        #expect(try await flight.run(delivery) == .paused(delivery.lane, until: end))
        let sent = flight.transport.sent.count
        flight.time.advance(by: .seconds(30))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.sent.count == sent)
        let report = try await flight.report(delivery)
        #expect(report.state == .abandoned)
        #expect(report.counts == [.abandoned: 2])
    }

    @Test func theReplacementOfAScheduleIsSentInItsPlace() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        let intake = intake(flight)
        let content = { (text: String) in
            Notification.Content.native(CarrierPigeon.platform, Message(body: Array(text.utf8)))
        }
        let due = flight.time.now + .seconds(60)
        let id = try await intake.accept(content("old"), to: .audience(nil), in: flight.hub, dueAt: due)
        let replacement = try await intake.replace(
            id, in: flight.hub, with: content("new"), to: .audience(nil), dueAt: due + .seconds(60),
            expiry: .after(.seconds(5)))
        #expect(replacement == .replaced(.running))
        flight.time.advance(by: .seconds(60))
        #expect(try await flight.storage.release(due: flight.time.now, limit: 9).count == 0)
        flight.time.advance(by: .seconds(60))
        let released = try await flight.storage.release(due: flight.time.now, limit: 9).deliveries
        #expect(released.map(\.notification.id) == [id])
        #expect(try await flight.run(released[0]) == .finished)
        #expect(flight.transport.sent.map(\.body) == ["new"])
        #expect(
            try await intake.replace(id, in: flight.hub, with: content("late"), to: .audience(nil), dueAt: due)
                == .begun)
    }

    @Test func aReplacementForNowIsBegunByTheScheduler() async throws {
        let flight = try await Flight()
        let wakes = Mutex<[Timestamp]>([])
        let intake = NotificationIntake(
            store: flight.storage, platforms: flight.platforms, time: flight.time, accepted: { _ in },
            scheduled: { due in wakes.withLock { $0.append(due) } })
        let content = Notification.Content.native(CarrierPigeon.platform, Message(body: [1]))
        let now = flight.time.now
        let id = try await intake.accept(content, to: .audience(nil), in: flight.hub, dueAt: now + .seconds(60))
        _ = try await intake.replace(id, in: flight.hub, with: content, to: .audience(nil), dueAt: now + .seconds(-9))
        #expect(wakes.withLock { $0 } == [now + .seconds(60), now])
        #expect(try await flight.storage.release(due: now, limit: 9).count == 1)
        #expect(try await intake.cancel(id, in: flight.hub) == .begun)
    }
}
