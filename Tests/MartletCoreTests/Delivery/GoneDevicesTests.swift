import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

/// Deliveries whose retries wait for devices that are gone.
struct GoneDevicesTests {
    private func flight(_ devices: Int) async throws -> Flight {
        let flight = try await Flight { _, _ in answered(429, ["retry-after": "3600"]) }
        try await flight.register(devices)
        return flight
    }

    private func look(_ delivery: Delivery, _ flight: Flight) async throws -> DeliveryRun.Ending {
        let found = try await flight.storage.unfinished(
            after: Delivery.ID(rawValue: delivery.id.rawValue - 1), limit: 1)
        var run = DeliveryRun(try #require(found.first))
        run.looksForGone = true
        return await flight.deliverer.run(&run)
    }

    private func isWaiting(_ ending: DeliveryRun.Ending) -> Bool {
        if case .waiting = ending { true } else { false }
    }

    @Test func aDeliveryWhoseLastDeviceIsGoneEndsBeforeItsRetryIsDue() async throws {
        let flight = try await flight(2)
        let delivery = try await flight.accept()
        #expect(isWaiting(try await flight.run(delivery)))
        #expect(isWaiting(try await look(delivery, flight)))
        #expect(try await flight.refusals(delivery).isEmpty)
        _ = try await flight.registry.delete("r1", in: flight.hub)
        #expect(isWaiting(try await look(delivery, flight)))
        #expect(try await flight.refusals(delivery).map(\.outcome) == [.channelThrottled])
        _ = try await flight.registry.delete("r2", in: flight.hub)
        #expect(try await look(delivery, flight) == .finished)
        let report = try await flight.report(delivery)
        #expect(report.state == .completed)
        #expect(report.counts == [.channelThrottled: 2])
        #expect(flight.transport.sent.count == 2, "nothing was sent")
    }

    @Test func aDeviceWithANewHandleIsNotGone() async throws {
        let flight = try await flight(1)
        let delivery = try await flight.accept()
        #expect(isWaiting(try await flight.run(delivery)))
        try await flight.register("elsewhere", id: "r1")
        #expect(isWaiting(try await look(delivery, flight)))
        #expect(try await flight.refusals(delivery).isEmpty)
    }

    @Test func aDeliveryThatWaitsForManyDevicesDoesNotLook() async throws {
        let flight = try await flight(11)
        let delivery = try await flight.accept()
        #expect(isWaiting(try await flight.run(delivery)))
        for number in 1...11 { _ = try await flight.registry.delete("r\(number)", in: flight.hub) }
        #expect(isWaiting(try await look(delivery, flight)))
        #expect(try await flight.refusals(delivery).isEmpty)
    }
}
