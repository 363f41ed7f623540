import Foundation
import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

/// The format `message` on the routes of sends.
struct ComposedSendTests {
    private func send(
        _ fixture: HubFixture, _ body: String, to target: String = "/demo/messages", fields: HTTPFields = [:]
    ) async throws -> HTTPResponse {
        var all: HTTPFields = ["servicebusnotification-format": "Message"]
        for field in fields { all.append(field) }
        return try await fixture.send(.post, target, fields: all, body: body)
    }

    @Test func aMessageIsOneNotificationOnAllPlatforms() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("a", as: "1", tags: "news")
        _ = try await fixture.send(
            .put, "/demo/registrations/2",
            body: "<AdmRegistrationDescription><AdmRegistrationId>amzn</AdmRegistrationId></AdmRegistrationDescription>"
        )
        let response = try await send(fixture, #"{"text": "hello"}"#)
        #expect(response.status == .created)
        let id = try #require(response.fields["location"]?.split(separator: "/").last?.split(separator: "?").first)
        let details = try await fixture.send(.get, "/demo/messages/\(id)")
        #expect(details.element("NotificationBody") == #"{"text": "hello"}"#)
        #expect(details.element("TargetPlatforms") == "adm,pigeon")
    }

    @Test func aScheduledMessageCanBeReplacedAndKnowsItsFormatBeforeItBegins() async throws {
        let fixture = try await HubFixture()
        let time: HTTPFields = ["servicebusnotification-scheduletime": "2026-06-01T00:00:00"]
        let scheduled = try await send(
            fixture, #"{"text": "hello"}"#, to: "/demo/schedulednotifications", fields: time)
        #expect(scheduled.status == .created)
        let id = try #require(scheduled.fields["location"]?.split(separator: "/").last?.split(separator: "?").first)
        var fields = time
        fields.append(HTTPField("servicebusnotification-format", "message"))
        let replaced = try await fixture.send(
            .put, "/demo/schedulednotifications/\(id)", fields: fields, body: #"{"text": "bye", "collapse": "k"}"#)
        #expect(replaced.status == .ok)
        let details = try await fixture.send(.get, "/demo/messages/\(id)")
        #expect(details.element("NotificationBody") == #"{"text": "bye", "collapse": "k"}"#)
        #expect(details.element("TargetPlatforms") == "message")
    }

    @Test(arguments: [
        (#"{"text": "x", "tittle": "y"}"#, 400, "The message has the unknown member 'tittle'."),
        (
            #"{"text": "x", "platforms": {"aple": false}}"#, 400,
            "The message's platforms has 'aple'; the platforms are "
        ),
        (
            #"{"text": "x", "data": {"from": "y"}}"#, 400,
            "The message's data has the name 'from', which is reserved for payloads."
        ),
        (
            #"{"text": "x", "platforms": {"pigeon": {"payload": "x", "headers": {"a": "b"}}}}"#, 400,
            "The message's platforms.pigeon.headers has 'a'; payloads there have pigeon-…."
        ),
        ("hello", 400, "The message must be a JSON object."),
    ])
    func isRefusedByASentence(body: String, status: Int, sentence: String) async throws {
        let fixture = try await HubFixture()
        let response = try await send(fixture, body)
        #expect(response.status.code == status)
        #expect(response.text.replacing("&#39;", with: "'").replacing("&apos;", with: "'").contains(sentence))
    }

    @Test func aFormatThatIsGivenTwiceIsNone() async throws {
        let fixture = try await HubFixture()
        let response = try await send(
            fixture, #"{"text": "x"}"#, fields: ["servicebusnotification-format": "pigeon"])
        #expect(response.status == .badRequest)
        #expect(response.text.contains("has an invalid value: \"Message,pigeon\""))
    }

    @Test func aMessageThatIsTooLargeIsA413() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("a", as: "1")
        let body = #"{"text": "\#(String(repeating: "x", count: 1000))"}"#
        let response = try await send(fixture, body)
        #expect(response.status.code == 413)
        #expect(response.text.contains("For pigeon the payload has 1,0"))
        let run = try JSON(parsing: try await send(fixture, body, to: "/demo/messages?dryRun").bytes)
        #expect(run["isAccepted"] == false)
        let refusal = try #require(run["refusal"])
        #expect(refusal["code"] == "payload-too-large" && refusal["platform"] == "pigeon")
        #expect(refusal["limit"] == 1000 && refusal["isTruncated"] == false && refusal["language"] == nil)
        #expect((refusal["size"]?.integer ?? 0) > 1000)
        #expect(run["problems"]?.array?.first == refusal["error"])
        let fitting = try await send(fixture, #"{"text": "x"}"#, to: "/demo/messages?dryRun")
        #expect(try JSON(parsing: fitting.bytes)["refusal"] == nil)
        #expect(try await fixture.storage.unfinished(after: .none, limit: 9).isEmpty)
    }

    @Test func aDirectSendAndABatchNeedANativeFormat() async throws {
        let fixture = try await HubFixture()
        let sentence = "A message goes to registrations; a direct send needs a native format."
        let direct = try await send(
            fixture, #"{"text": "x"}"#, to: "/demo/messages?direct",
            fields: ["servicebusnotification-devicehandle": "a"])
        #expect(direct.status == .badRequest && direct.text.contains(sentence))
        let batch =
            "--b\r\nContent-Disposition: inline; name=notification\r\n\r\n{\"text\": \"x\"}\r\n"
            + "--b\r\nContent-Disposition: inline; name=devices\r\n\r\n[\"a\"]\r\n--b--"
        let many = try await send(
            fixture, batch, to: "/demo/messages/$batch", fields: ["content-type": "multipart/mixed; boundary=b"])
        #expect(many.status == .badRequest && many.text.contains(sentence))
    }

    @Test func theSameKeyWithAnotherMessageConflicts() async throws {
        let fixture = try await HubFixture()
        let key: HTTPFields = ["idempotency-key": "k"]
        let first = try await send(fixture, #"{"text": "x"}"#, fields: key)
        #expect(try await send(fixture, #"{"text": "x"}"#, fields: key).fields["location"] == first.fields["location"])
        #expect(try await send(fixture, #"{"text": "y"}"#, fields: key).status.code == 422)
    }

    @Test func aDryRunShowsWhatEachDeviceShows() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("a", as: "1", tags: "lang:de")
        let response = try await send(
            fixture, #"{"text": {"en": "hello", "de": "hallo"}, "language": "en"}"#, to: "/demo/messages?dryRun")
        let run = try JSON(parsing: response.bytes)
        let payload = run["platforms"]?["pigeon"]?["payloads"]?.array?.first
        #expect(payload?["language"] == "de")
        #expect(payload?["appearance"]?["text"] == "hallo")
        #expect(payload?["appearance"]?["look"] == "app")
        #expect(run["missingLanguages"] == [])
        #expect(run["templatesOnly"] == 0)
    }
}
