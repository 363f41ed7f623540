import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

/// Sends that are answered with what became of them (NotificationHubs.md, section 6.5).
struct TestSendTests {
    private static let format = HTTPField("ServiceBusNotification-Format", "pigeon")
    private static let start =
        #"<NotificationOutcome xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" "#
        + #"xmlns:i="http://www.w3.org/2001/XMLSchema-instance">"#

    private func fixture() async throws -> HubFixture {
        let fixture = try await HubFixture()
        try await fixture.hubs.setCredential(
            Credential(["Whistle": "tweet"]), for: CarrierPigeon.platform, of: "demo")
        return fixture
    }

    private func send(
        _ target: String, _ fields: HTTPField..., to fixture: HubFixture, body: String = "coo"
    ) async throws -> HTTPResponse {
        try await fixture.send(.post, target, as: "send", fields: HTTPFields([Self.format] + fields), body: body)
    }

    @Test(
        "The answer is the outcome of every device, in the binding order",
        arguments: ["/demo/messages?api-version=2020-06&test", "/demo/messages/?api-version=2020-06&test=true"])
    func theAnswerIsTheOutcome(target: String) async throws {
        let fixture = try await fixture()
        try await fixture.register("North7", as: "1-1-1")
        try await fixture.register("lost9", as: "2-1-1")
        let response = try await send(target, to: fixture)
        #expect(response.status == .created)
        #expect(response.fields["content-type"] == "application/xml; charset=utf-8")
        let results = [
            ("North7", "1-1-1", "The Notification was successfully sent to the Push Notification System"),
            ("lost9", "2-1-1", "The Push Notification System handle for the registration is invalid"),
        ].map { handle, id, text in
            "<RegistrationResult><ApplicationPlatform>pigeon</ApplicationPlatform><PnsHandle>\(handle)</PnsHandle>"
                + "<RegistrationId>\(id)</RegistrationId><Outcome>\(text)</Outcome></RegistrationResult>"
        }
        #expect(
            response.text == Self.start
                + "<Success>1</Success><Failure>1</Failure><Results>\(results.joined())</Results>"
                + "</NotificationOutcome>")
    }

    @Test func withoutTargetsTheResultsAreNil() async throws {
        let response = try await send("/demo/messages?test", to: try await fixture())
        #expect(response.status == .created)
        #expect(
            response.text == Self.start
                + #"<Success>0</Success><Failure>0</Failure><Results i:nil="true"/></NotificationOutcome>"#)
    }

    @Test("PyPI asks with a header of its own, and .NET puts the flag on direct sends and batches too")
    func everyWayToAskIsKnown() async throws {
        let fixture = try await fixture()
        try await fixture.register("north", as: "1")
        let header = HTTPField("ServiceBusNotification-TestSend", "true")
        #expect(try await send("/demo/messages", header, to: fixture).element("Success") == "1")
        let handle = HTTPField("ServiceBusNotification-DeviceHandle", "west")
        let direct = try await send("/demo/messages?api-version=2020-06&test&direct", handle, to: fixture)
        #expect(direct.element("PnsHandle") == "west")
        #expect(direct.element("RegistrationId") == "")
        let batch = try await send(
            "/demo/messages/$batch?api-version=2020-06&direct&test",
            HTTPField("Content-Type", "multipart/mixed; boundary=b"), to: fixture,
            body: "--b\r\nContent-Disposition: inline; name=notification\r\n\r\ncoo\r\n"
                + "--b\r\nContent-Disposition: inline; name=devices\r\n\r\n[\"a\",\"lost1\"]\r\n--b--")
        #expect(batch.element("Success") == "1" && batch.element("Failure") == "1")
    }

    @Test("A test is never a roll-out, neither to an audience nor to many handles", arguments: ["", "/$batch"])
    func aTestIsNoRollout(path: String) async throws {
        let fixture = try await fixture()
        let response = try await send(
            "/demo/messages\(path)?api-version=2020-06&direct&test", HTTPField("Martlet-Rollout", "rate=5"),
            HTTPField("ServiceBusNotification-DeviceHandle", "west"),
            HTTPField("Content-Type", "multipart/mixed; boundary=b"), to: fixture,
            body: "--b\r\nContent-Disposition: inline; name=notification\r\n\r\ncoo\r\n"
                + "--b\r\nContent-Disposition: inline; name=devices\r\n\r\n[\"a\",\"b\"]\r\n--b--")
        #expect(response.status == .badRequest)
        #expect(response.text.contains("leave out Martlet-Rollout"))
    }

    @Test func noMoreThanTenDevicesAreReached() async throws {
        let fixture = try await fixture()
        for number in 1...15 { try await fixture.register("loft\(number)", as: "\(number)") }
        #expect(try await send("/demo/messages?test", to: fixture).element("Success") == "10")
    }

    @Test func nothingIsLeftOfATestSend() async throws {
        let fixture = try await fixture()
        try await fixture.register("lost1", as: "1")
        let key = HTTPField("Idempotency-Key", "k")
        #expect(try await send("/demo/messages?test", key, to: fixture).element("Failure") == "1")
        #expect(try await send("/demo/messages?test", key, to: fixture).element("Failure") == "1")
        #expect(try await fixture.storage.unfinished(after: .none, limit: 10).isEmpty)
        #expect(try await fixture.send(.get, "/demo/registrations/1").status == .ok)
    }

    @Test("The eleventh of a minute is a 429 with whole seconds to wait (trap 13)")
    func theEleventhIsThrottled() async throws {
        let fixture = try await fixture()
        for _ in 1...10 { #expect(try await send("/demo/messages?test", to: fixture).status == .created) }
        fixture.time.advance(by: .milliseconds(500))
        let refused = try await send("/demo/messages?test", to: fixture)
        #expect(refused.status == .tooManyRequests)
        #expect(refused.fields["retry-after"] == "60")
        fixture.time.advance(by: .seconds(60))
        #expect(try await send("/demo/messages?test", to: fixture).status == .created)
    }

    @Test func aTestSendRefusesWhatASendRefuses() async throws {
        let fixture = try await fixture()
        #expect(try await send("/demo/messages?test", to: fixture, body: "").status == .badRequest)
        let schedule = HTTPField("ServiceBusNotification-ScheduleTime", "2026-06-01T00:00:00")
        #expect(try await send("/demo/messages?test", schedule, to: fixture).status == .badRequest)
        let listener = try await fixture.send(
            .post, "/demo/messages?test", as: "listen", fields: HTTPFields([Self.format]), body: "coo")
        #expect(listener.status == .forbidden)
    }
}
