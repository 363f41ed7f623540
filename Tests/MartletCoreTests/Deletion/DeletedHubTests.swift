import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct DeletedHubTests {
    private func acceptRollout(_ flight: Flight, _ rollout: Rollout) async throws -> Delivery {
        var draft = NotificationDraft(
            id: NotificationID(at: flight.time.now), hub: flight.hub,
            content: .native(CarrierPigeon.platform, Message(body: [1])), target: .audience(nil),
            acceptedAt: flight.time.now, expiresAt: flight.time.now + .seconds(86_400))
        draft.rollout = rollout
        guard case .accepted(_, let deliveries) = try await flight.storage.accept(draft) else {
            throw StorageError(.closed, "not accepted")
        }
        return deliveries[0]
    }

    @Test("A roll-out over a time whose hub is deleted before its first turn ends with that turn")
    func aRolloutWithoutAHubEnds() async throws {
        let flight = try await Flight()
        try await flight.register(3)
        let delivery = try await acceptRollout(flight, Rollout(.over(.seconds(3600))))
        try await flight.hubs.delete("aviary")
        var run = DeliveryRun(DeliveryProgress(delivery))
        var turns = 0
        var ending = DeliveryRun.Ending.yielded
        while ending == .yielded, turns < 10 {
            ending = await flight.deliverer.run(&run)
            turns += 1
        }
        #expect(turns == 1)
        #expect(flight.board.count == 0)
        #expect(flight.maps.count == 0)
    }
}
