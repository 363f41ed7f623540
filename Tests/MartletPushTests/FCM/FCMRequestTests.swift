import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct FCMRequestTests {
    @Test func whatTheTranslatorSendsTheServiceAccepts() throws {
        var fixture = try FCMFixture()
        let token = try fixture.accessToken().value
        let handles = try (0..<3).map { _ in try fixture.device() }
        let message = FCMFixture.message(#"{"message":{"notification":{"title":"T"},"android":{"priority":"high"}}}"#)
        for (handle, request) in zip(handles, try fixture.requests(message, to: handles, token: token)) {
            let response = fixture.simulator.answer(request, at: FCMFixture.now).response
            #expect(fixture.service.outcome(of: response, at: FCMFixture.now) == .accepted)
            let delivery = try #require(fixture.simulator.devices[handle]?.inbox.last)
            #expect(delivery.text == "T" && delivery.headers == ["priority": "HIGH"])
            let name = try JSON(parsing: response.bytes)["name"]?.string
            #expect(name == "projects/example-project/messages/\(delivery.id)")
        }
    }

    @Test func oldPayloadsAreAcceptedTooAndShownByTheApp() throws {
        var fixture = try FCMFixture()
        let token = try fixture.accessToken().value
        let service = try LegacyFCM(credential: fixture.credential)
        let handle = try fixture.device()
        let message = FCMFixture.message(#"{"data":{"message":"Hi","n":1},"to":"x","time_to_live":0}"#)
        let request = try #require(fixture.requests(message, to: [handle], token: token, of: service).first)
        #expect(fixture.simulator.answer(request, at: FCMFixture.now).response.status == .ok)
        let delivery = try #require(fixture.simulator.devices[handle]?.inbox.last)
        #expect(delivery.text == "Hi" && delivery.keptUntil == nil)
        #expect(delivery.payload == ["data": ["message": "Hi", "n": "1"], "android": ["ttl": "0s"]])
    }

    @Test func aRequestHasWhatTheServiceAsksFor() throws {
        let fixture = try FCMFixture()
        let message = FCMFixture.message(#"{"message":{"data":{"a":"b"}},"validate_only":true}"#)
        let request = try #require(fixture.requests(message, to: [#"x"\:y"#], token: "secret").first)
        #expect(request.method == .post && request.target == "/v1/projects/example-project/messages:send")
        #expect(request.fields["authorization"] == "Bearer secret")
        #expect(request.fields.first?.indexing == .never)
        #expect(request.fields["content-type"] == "application/json; charset=UTF-8")
        #expect(
            try JSON(parsing: request.body)
                == ["message": ["token": #"x"\:y"#, "data": ["a": "b"]], "validate_only": true])
    }

    @Test func anEmptyMessageIsOneWithADeviceAlone() throws {
        let request = try #require(
            try FCMFixture().requests(FCMFixture.message("{}"), to: ["x"], token: nil).first)
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"message":{"token":"x"}}"#)
        #expect(request.fields["authorization"] == nil)
    }

    @Test func invalidMessagesAreNotSent() throws {
        let error = #expect(throws: PushServiceError.self) {
            try FCMFixture().requests(FCMFixture.message("hello"), to: ["x"], token: nil)
        }
        #expect(error?.kind == .badMessage)
    }
}
