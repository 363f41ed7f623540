import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

struct BacklogShareTests {
    @Test("A user whose sends do not end is refused beyond a share, and keeps nobody else from sending")
    func oneUserDoesNotFillTheBacklogOfTheHub() async throws {
        // With this limit, the share of a user is two notifications.
        let fixture = try await Fixture(backlogLimits: BacklogLimits(notifications: 5, standard: 5))
        _ = try await fixture.register("carol1", as: "carol")
        _ = try await fixture.register("alice1", as: "alice")
        func send(as sender: String, to recipient: String) async -> HTTPResponse {
            await fixture.ask(
                .post, "/api/notifications/message", as: sender,
                #"{"to": ["\#(recipient)"], "message": {"text": "hello"}}"#)
        }
        for _ in 0..<2 { #expect(await send(as: "carol", to: "carol").status == .created) }
        let refused = await send(as: "carol", to: "carol")
        #expect(refused.status == .tooManyRequests)
        #expect(refused.fields["retry-after"] == "10")
        #expect(try refused.json["code"] == 42903)
        #expect(refused.message.hasPrefix("You have as many unfinished notifications as one user may have"))
        #expect(await send(as: "bob", to: "alice").status == .created)
        let delivery = try #require(fixture.sent.deliveries.first)
        try await fixture.storage.record(
            DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: fixture.time.now))
        #expect(await send(as: "carol", to: "carol").status == .created)
    }
}
