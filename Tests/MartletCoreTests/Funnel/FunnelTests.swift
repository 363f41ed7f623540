import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct FunnelTests {
    private func funnel(_ flight: Flight, _ delivery: Delivery) async throws -> Funnel {
        try #require(try await Funnels(store: flight.storage).funnel(of: delivery.notification.id, in: flight.hub))
    }

    @Test func missingRecordsGiveTheVerdictUnknown() async throws {
        let flight = try await Flight()
        try await flight.register(2)
        let delivery = try await flight.accept()
        let before = try await funnel(flight, delivery).total
        #expect(before == Funnel.Steps(targeted: nil, rendered: 0, accepted: 0, received: nil, opened: nil))
        #expect(try await flight.run(delivery) == .finished)
        let after = try await funnel(flight, delivery)
        #expect(after.total == Funnel.Steps(targeted: 2, rendered: 2, accepted: 2, received: nil, opened: nil))
        #expect(after.platforms[CarrierPigeon.platform] == after.total)
    }

    @Test func devicesAreCountedAsFarAsTheyCame() async throws {
        let flight = try await Flight(pageSize: 10) { loft, _ in
            switch loft {
            case "loft1": answered(400)
            case "loft2": answered(429, ["retry-after": "60"])
            default: answered(200)
            }
        }
        for number in 1...5 { try await flight.register("loft\(number)", id: "r\(number)", tags: ["user:ann"]) }
        let delivery = try await flight.accept()
        guard case .waiting = try await flight.run(delivery) else {
            Issue.record("one device is tried again")
            return
        }
        let id = delivery.notification.id
        for (device, event) in [("r3", Receipt.Event.received), ("r3", .opened), ("r4", .opened)] {
            try await flight.storage.addReceipts(
                [Receipt(subject: .notification(id), event: event, at: flight.time.now)],
                from: ReceiptSource(hub: flight.hub, device: device, user: "ann", tag: try Tag("user:ann")),
                at: flight.time.now)
        }
        let total = try await funnel(flight, delivery).total
        #expect(total == Funnel.Steps(targeted: 5, rendered: 5, accepted: 3, received: 2, opened: 2))
    }

    @Test func aCancelTakesNothingBack() async throws {
        let flight = try await Flight(pageSize: 3) { _, _ in answered(429, ["retry-after": "600"]) }
        try await flight.register(5)
        let delivery = try await flight.accept()
        flight.transport.interrupt {
            _ = try? await flight.controls.apply(.pause, to: delivery.notification.id, in: flight.hub)
        }
        _ = try await flight.run(delivery)
        #expect(try await funnel(flight, delivery).total.rendered == 3)
        _ = try await flight.controls.apply(.cancel, to: delivery.notification.id, in: flight.hub)
        #expect(try await flight.run(delivery) == .finished)
        let total = try await funnel(flight, delivery).total
        #expect(total == Funnel.Steps(targeted: 5, rendered: 3, accepted: 0, received: nil, opened: nil))
    }

    @Test func theAudienceOfAScheduleIsUnknownUnlessARollOutHasCounted() {
        let id = NotificationID(high: 1, low: 2)
        #expect(Funnel(id: id, state: .scheduled, platforms: [:]).total.targeted == nil)
        #expect(Funnel(id: id, state: .noTargetFound, platforms: [:]).total.targeted == 0)
        var withdrawn = Funnel(id: id, state: .canceled, platforms: [:])
        withdrawn.isWithdrawn = true
        #expect(withdrawn.total.targeted == nil)
        let begun = Funnel.Steps(targeted: nil, rendered: 1, accepted: 1, received: nil, opened: nil)
        let rolledOut = Funnel(
            id: id, state: .processing, platforms: [CarrierPigeon.platform: begun], audience: 40)
        #expect(rolledOut.total.targeted == 40)
        #expect(rolledOut.platforms[CarrierPigeon.platform]?.targeted == nil)
    }

    @Test func devicesWhosePageNeverCameWereNotRendered() async throws {
        let flight = try await Flight()
        try await flight.register(5)
        let delivery = try await flight.accept(lifetime: .seconds(60))
        var run = DeliveryRun(DeliveryProgress(delivery))
        #expect(await flight.deliverer.run(&run) == .yielded)
        flight.time.advance(by: .seconds(60))
        #expect(try await flight.run(delivery) == .finished)
        let total = try await funnel(flight, delivery).total
        #expect(total.targeted == 5 && total.rendered == 3 && total.accepted == 3)
    }

    @Test func whereNothingIsSentNothingWasRendered() async throws {
        let flight = try await Flight(hasCredential: false)
        try await flight.register(3)
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .finished)
        let total = try await funnel(flight, delivery).total
        #expect(total.targeted == 3 && total.rendered == 0 && total.accepted == 0)
    }
}
