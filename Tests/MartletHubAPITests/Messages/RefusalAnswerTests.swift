import MartletHTTP
import MartletModel
import Testing

@testable import MartletHubAPI

/// In which form a refusal is answered.
struct RefusalAnswerTests {
    private static let send: HTTPFields = [
        "servicebusnotification-format": "message", "servicebusnotification-tags": "username:alice &&",
    ]

    @Test func whoAsksForJSONGetsTheSentenceAlone() async throws {
        let fixture = try await HubFixture()
        var fields = Self.send
        fields["martlet-answer"] = "json"
        let response = try await fixture.send(.post, "/demo/messages", fields: fields, body: #"{"title":"a"}"#)
        #expect(response.status == .badRequest)
        let sentence = try #require(try JSON(parsing: response.bytes)["error"]?.string)
        #expect(sentence.hasPrefix("The tag expression") && sentence.hasSuffix("."))
        #expect(!sentence.contains("TrackingId") && !sentence.contains("SubCode"))
        let refused = try await fixture.send(
            .post, "/demo/messages", fields: ["authorization": "none", "martlet-answer": "json"])
        #expect(refused.status == .unauthorized && refused.text.hasPrefix("{"))
    }

    @Test func everybodyElseGetsXML() async throws {
        let fixture = try await HubFixture()
        var fields = Self.send
        fields["accept"] = "application/json"
        let response = try await fixture.send(.post, "/demo/messages", fields: fields, body: #"{"title":"a"}"#)
        #expect(response.text.hasPrefix("<Error><Code>400</Code>"))
    }
}
