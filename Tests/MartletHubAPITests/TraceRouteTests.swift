import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI
import MartletTesting
import Testing

@testable import MartletHubAPI

struct TraceRouteTests {
    /// Sends to everybody with a tag.
    private func send(
        _ fixture: HubFixture, to tags: String, _ others: HTTPFields = [:], body: String = "coo"
    ) async throws -> String {
        var fields = others
        fields["servicebusnotification-format"] = "pigeon"
        fields["servicebusnotification-tags"] = tags
        let response = try await fixture.send(.post, "/demo/messages", fields: fields, body: body)
        let location = try #require(response.fields["location"])
        return try #require(location.split(separator: "?").first?.split(separator: "/").last.map(String.init))
    }

    private func trace(_ fixture: HubFixture, _ id: String, _ device: String) async throws -> JSON {
        let response = try await fixture.send(.get, "/demo/messages/\(id)/devices/\(device)")
        #expect(response.status == .ok)
        #expect(response.fields["content-type"] == "application/json; charset=utf-8")
        return try JSON(parsing: response.bytes)
    }

    @Test func aTraceTellsWhatBecameOfAPush() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("loft1", as: "r1", tags: "news")
        let id = try await send(fixture, to: "news")
        #expect(try await trace(fixture, id, "r1")["verdict"] == "pending")
        let delivery = try #require(try await fixture.storage.unfinished(after: .none, limit: 1).first?.delivery)
        try await fixture.storage.record(
            DeliveryStep(
                delivery: delivery.id, cursor: .end, isFannedOut: true, state: .completed, endedAt: fixture.time.now,
                range: RangeRecord(
                    last: .end, snapshot: AudienceSnapshot(change: 0, registration: 1), startedAt: fixture.time.now,
                    endedAt: fixture.time.now, counts: [.success: 1], origins: ["https://pigeon.example"]),
                reached: DeliveredBitmap.blocks(of: [1])))
        let trace = try await trace(fixture, id, "r1")
        #expect(trace["verdict"] == "delivered")
        #expect(trace["notification"]?.string == id)
        #expect(trace["explanation"]?.array?.first == "Delivered: pigeon accepted it for the device.")
        let push = try #require(trace["registrations"]?.array?.first)
        #expect(push["decidedBy"] == [["tag": "news", "isPresent": true]])
        #expect(push["payload"]?["body"] == "coo")
        #expect(push["payload"]?["sha256"] == "6350eac584f6733f5648e1caf896756856278d5716c5c2b4e8055e9dabefb665")
        #expect(push["page"]?["outcomes"] == ["Success": 1])
        #expect(push["messageId"]?.string?.utf8.count == 36)
        #expect(push["isInAudience"] == true)
    }

    @Test func theTraceOfACanaryHasNoMemberThatTheDescriptionLacks() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("loft1", as: "r1", tags: "news")
        let id = try await send(fixture, to: "news", ["martlet-rollout": "first=1"])
        let delivery = try #require(try await fixture.storage.unfinished(after: .none, limit: 1).first?.delivery)
        let sample = CountedSample(threshold: .max - 1, audience: 1, isWholeAudience: false)
        _ = try await fixture.storage.setSample(sample, ofRollout: delivery.notification.sequence)
        let push = try #require(try await trace(fixture, id, "r1")["registrations"]?.array?.first)
        #expect(push["side"] == "sample")
        let description = HubDescription(platforms: PushPlatformList([CarrierPigeon.self])).description.document
        let schema = description["components"]?["schemas"]?["PushTrace"]
        guard case .object(let members) = push, case .object(let described)? = schema?["properties"] else {
            Issue.record("PushTrace has no properties")
            return
        }
        #expect(Set(members.keys).subtracting(described.keys).isEmpty)
    }

    @Test func confidentialContentIsNotShown() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("loft1", as: "r1", tags: "news")
        let id = try await send(fixture, to: "news", ["martlet-confidential": "true"], body: "secret")
        let delivery = try #require(try await fixture.storage.unfinished(after: .none, limit: 1).first?.delivery)
        try await fixture.storage.record(
            DeliveryStep(
                delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: fixture.time.now,
                reached: DeliveredBitmap.blocks(of: [1])))
        let trace = try await trace(fixture, id, "r1")
        #expect(trace["verdict"] == "delivered")
        #expect(!trace.text.contains("secret"))
        let payload = trace["registrations"]?.array?.first?["payload"]
        #expect(payload?["size"] == 6)
        #expect(payload?["body"] == nil)
        let telemetry = try await fixture.send(.get, "/demo/messages/\(id)")
        #expect(telemetry.status == .ok)
        #expect(!telemetry.text.contains("secret"))
    }

    @Test(arguments: ["yes", "", "1", "true,true"])
    func whetherSomethingIsConfidentialIsSaidClearlyOrNothingIsSent(value: String) async throws {
        let fixture = try await HubFixture()
        try await fixture.register("loft1", as: "r1", tags: "news")
        for path in ["messages", "schedulednotifications"] {
            let response = try await fixture.send(
                .post, "/demo/\(path)",
                fields: ["servicebusnotification-format": "pigeon", "martlet-confidential": value], body: "secret")
            #expect(response.status == .badRequest)
            #expect(response.text.contains("Martlet-Confidential must be true or false"))
        }
        #expect(try await fixture.storage.unfinished(after: .none, limit: 1).isEmpty)
    }

    @Test func aDeviceThatNobodyKnowsIsExplainedAsWell() async throws {
        let fixture = try await HubFixture()
        let id = try await send(fixture, to: "news")
        let trace = try await trace(fixture, id, "no%20body")
        #expect(trace["verdict"] == "unknownDevice")
        #expect(trace["device"] == "no body")
        #expect(trace["registrations"] == [])
    }

    @Test func aNotificationThatIsNotThereIsNotFoundAndOthersMayNotAsk() async throws {
        let fixture = try await HubFixture()
        let id = try await send(fixture, to: "news")
        for unknown in ["nonsense", "\(NotificationID(at: fixture.time.now))"] {
            #expect(try await fixture.send(.get, "/demo/messages/\(unknown)/devices/r1").status == .notFound)
        }
        for rule in ["listen", "send"] {
            #expect(try await fixture.send(.get, "/demo/messages/\(id)/devices/r1", as: rule).status == .forbidden)
        }
    }
}
