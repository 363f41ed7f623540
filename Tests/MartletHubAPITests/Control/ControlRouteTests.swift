import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

struct ControlRouteTests {
    /// Sends to everybody and gives back the path of the message.
    private func message(_ fixture: HubFixture, rollout: String? = nil) async throws -> String {
        var fields: HTTPFields = ["servicebusnotification-format": "pigeon"]
        if let rollout { fields["martlet-rollout"] = rollout }
        let response = try await fixture.send(.post, "/demo/messages", as: "send", fields: fields, body: "coo")
        let location = try #require(response.fields["location"])
        let id = try #require(location.split(separator: "?").first?.split(separator: "/").last)
        return "/demo/messages/\(id)"
    }

    private func json(_ response: HTTPResponse) throws -> JSON { try JSON(parsing: response.bytes) }

    @Test func aSendIsPausedResumedAndCanceledAndSaysSo() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("loft1", as: "1")
        let message = try await message(fixture)
        for (word, control) in [
            ("pause", "paused"), ("pause", "paused"), ("resume", "running"), ("resume", "running"),
            ("cancel", "canceled"), ("cancel", "canceled"),
        ] {
            let response = try await fixture.send(.post, "\(message)/\(word)", as: "send")
            #expect(response.status == .ok)
            #expect(try json(response)["control"]?.string == control)
        }
        let status = try json(try await fixture.send(.get, "\(message)/status"))
        #expect(status["control"]?.string == "canceled")
        #expect(status["targeted"] == .null && status["pending"] == .null, "nobody has counted yet")
        #expect(status["sent"]?.integer == 0)
        #expect(status["rollout"] == .null)
        #expect(status["platforms"]?["pigeon"]?["state"]?.string == "Enqueued")
        for word in ["pause", "resume"] {
            let response = try await fixture.send(.post, "\(message)/\(word)", as: "send")
            #expect(response.status == .conflict)
            #expect(response.text.contains("The notification has ended"))
        }
    }

    @Test func theAudienceOfASendThatWasWithdrawnIsNotKnown() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("loft1", as: "1")
        let fields: HTTPFields = [
            "servicebusnotification-format": "pigeon",
            "servicebusnotification-scheduletime": (fixture.time.now + .seconds(60)).iso8601,
        ]
        let response = try await fixture.send(
            .post, "/demo/schedulednotifications", as: "send", fields: fields, body: "coo")
        let location = try #require(response.fields["location"])
        let id = try #require(location.split(separator: "?").first?.split(separator: "/").last)
        #expect(try await fixture.send(.delete, "/demo/schedulednotifications/\(id)", as: "send").status == .ok)
        let status = try json(try await fixture.send(.get, "/demo/messages/\(id)/status"))
        #expect(status["state"] == "Canceled" && status["startedAt"] == .null)
        #expect(status["targeted"] == .null, "nobody has read it")
        #expect(["sent", "suppressed", "skipped", "pending"].map { status[$0]?.integer } == [0, 0, 0, 0])
        let funnel = try json(try await fixture.send(.get, "/demo/messages/\(id)/funnel"))
        #expect(funnel["targeted"] == .null)
    }

    @Test func unknownItemsAreNotFound() async throws {
        let fixture = try await HubFixture()
        for id in ["nonsense", NotificationID(at: HubFixture.start).description] {
            for word in ["cancel", "pause", "resume"] {
                let response = try await fixture.send(.post, "/demo/messages/\(id)/\(word)", as: "send")
                #expect(response.status == .notFound)
            }
            #expect(try await fixture.send(.get, "/demo/messages/\(id)/status").status == .notFound)
        }
    }

    @Test func controllingNeedsTheRightToSendAndWatchingThatToManage() async throws {
        let fixture = try await HubFixture()
        let message = try await message(fixture)
        for word in ["cancel", "pause", "resume"] {
            #expect(try await fixture.send(.post, "\(message)/\(word)", as: "listen").status == .forbidden)
        }
        #expect(try await fixture.send(.get, "\(message)/status", as: "send").status == .forbidden)
        #expect(try json(try await fixture.send(.get, "\(message)/status"))["control"]?.string == "running")
    }

    @Test func theNumbersOfASendThatIsOverAddUp() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("loft1", as: "1")
        let message = try await message(fixture, rollout: "rate=5; halt=2.5%/20")
        let delivery = try #require(try await fixture.storage.unfinished(after: .none, limit: 1).first?.delivery)
        try await fixture.storage.record(
            DeliveryStep(
                delivery: delivery.id, isFannedOut: true, state: .canceled, startedAt: fixture.time.now,
                endedAt: fixture.time.now, counts: [.success: 5, .badChannel: 2, .canceled: 8, .skipped: 1]))
        let status = try json(try await fixture.send(.get, "\(message)/status"))
        let numbers = ["targeted", "sent", "succeeded", "failed", "suppressed", "skipped", "retrying", "pending"]
        #expect(numbers.map { status[$0]?.integer } == [16, 7, 5, 2, 8, 1, 0, 0])
        #expect(numbers.map { status["platforms"]?["pigeon"]?[$0]?.integer } == [16, 7, 5, 2, 8, 1, 0, 0])
        #expect(status["outcomes"]?["Canceled"]?.integer == 8)
        #expect(status["platforms"]?["pigeon"]?["state"] == "Canceled")
        #expect(status["rollout"]?["spec"]?.string == "rate=5; halt=2.5%/20")
        #expect(status["rollout"]?["halt"]?["answers"]?.integer == 20)
    }

    @Test func aCanceledSendIsCanceledInTheTelemetryOfTheOriginalHub() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("loft1", as: "1")
        let message = try await message(fixture)
        _ = try await fixture.send(.post, "\(message)/cancel", as: "send")
        let delivery = try #require(try await fixture.storage.unfinished(after: .none, limit: 1).first?.delivery)
        try await fixture.storage.record(
            DeliveryStep(
                delivery: delivery.id, isFannedOut: true, state: .canceled, startedAt: fixture.time.now,
                endedAt: fixture.time.now, counts: [.success: 1, .canceled: 2]))
        let response = try await fixture.send(.get, message)
        #expect(response.element("State") == "Canceled")
        #expect(response.text.contains("<Name>Canceled</Name><Count>2</Count>"))
        let status = try json(try await fixture.send(.get, "\(message)/status"))
        #expect(status["control"] == "canceled")
        #expect(status["platforms"]?["pigeon"]?["state"] == "Canceled")
    }
}
