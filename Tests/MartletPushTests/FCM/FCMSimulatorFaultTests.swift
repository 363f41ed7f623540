import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct FCMSimulatorFaultTests {
    private static let now = FCMFixture.now

    @Test(arguments: [
        (ServiceFault.Name.rateLimit, 429, "RATE_LIMIT_EXCEEDED"), (.deviceRateLimit, 429, "QUOTA_EXCEEDED"),
        (.internalError, 500, "INTERNAL"), (.unavailable, 503, "UNAVAILABLE"), (.unregistered, 404, "UNREGISTERED"),
        (.unknownHandle, 400, "INVALID_ARGUMENT"), (.wrongSender, 403, "SENDER_ID_MISMATCH"),
        (.expiredToken, 401, "ACCESS_TOKEN_EXPIRED"), (.credentialRefused, 401, "UNAUTHENTICATED"),
        (.unknownReason, 400, "NOTHING_YOU_KNOW"), ("INVALID_ARGUMENT", 400, "INVALID_ARGUMENT"),
        ("TOO_BIG", 400, "INVALID_ARGUMENT"), ("THIRD_PARTY_AUTH_ERROR", 401, "THIRD_PARTY_AUTH_ERROR"),
        ("CREDENTIALS_MISSING", 401, "CREDENTIALS_MISSING"), ("PERMISSION_DENIED", 403, "PERMISSION_DENIED"),
        ("SERVICE_DISABLED", 403, "SERVICE_DISABLED"), ("NOT_FOUND", 404, "NOT_FOUND"),
        ("QUOTA_EXCEEDED", 429, "QUOTA_EXCEEDED"), ("UNSPECIFIED_ERROR", 500, "UNSPECIFIED_ERROR"),
    ])
    func everyFaultIsToldInTheServicesWords(name: ServiceFault.Name, status: Int, reason: String) throws {
        var fixture = try FCMFixture()
        #expect(FCMSimulator.faults.contains(name))
        let device = try fixture.device()
        let fault = ServiceFault(name, retryAfter: .seconds(7))
        let response = try fixture.answer(#"{"message":{"token":"\#(device)"}}"#, fault: fault)
        #expect(response.status.code == status && FCMAnswer(response).reason == reason)
        #expect(response.fields["retry-after"] == "7")
        #expect(fixture.simulator.devices[device]?.accepted == 0)
    }

    @Test func aFaultMayDeliverAllTheSame() throws {
        var fixture = try FCMFixture()
        let device = try fixture.device()
        let fault = ServiceFault(.unavailable, retryAfter: .date(60), isDelivered: true)
        let response = try fixture.answer(#"{"message":{"token":"\#(device)"}}"#, fault: fault)
        #expect(response.status == .serviceUnavailable)
        #expect(response.fields["retry-after"] == "Tue, 14 Nov 2023 22:14:20 GMT")
        #expect(fixture.simulator.devices[device]?.accepted == 1)
    }

    @Test func aTokenThatHasExpiredStaysSo() throws {
        var fixture = try FCMFixture()
        let body = #"{"message":{"token":"\#(try fixture.device())"}}"#
        let token = try fixture.accessToken().value
        _ = try fixture.answer(body, token: token, fault: ServiceFault(.expiredToken))
        #expect(FCMAnswer(try fixture.answer(body, token: token)).infoReason == "ACCESS_TOKEN_EXPIRED")
        #expect(try fixture.answer(body).status == .ok)
    }

    @Test(arguments: [
        (ServiceFault.Name.tokenRefused, 400, "invalid_grant" as String?), (.internalError, 500, "internal_failure"),
        (.unavailable, 503, "backend_error"), (.rateLimit, 429, "rate_limit_exceeded"), (.malformedToken, 200, nil),
        (.textualLifetime, 200, nil), (.unregistered, 200, nil),
    ])
    func theEndpointOfTokensHasFaultsOfItsOwn(name: ServiceFault.Name, status: Int, error: String?) throws {
        var fixture = try FCMFixture()
        let response = fixture.simulator.answer(
            try fixture.exchange(), fault: ServiceFault(name), at: Self.now
        ).response
        #expect(response.status.code == status)
        let body = try? JSON(parsing: response.bytes)
        #expect(body?["error"]?.string == error)
        if name == .malformedToken { #expect(body == nil) }
        if name == .textualLifetime { #expect(body?["expires_in"] == "3599") }
    }

    @Test func aFaultOfTheOtherEndpointIsNone() throws {
        var fixture = try FCMFixture()
        let body = #"{"message":{"token":"\#(try fixture.device())"}}"#
        #expect(try fixture.answer(body, fault: ServiceFault(.tokenRefused)).status == .ok)
    }

    @Test func aRequestSaysWhatItIsAbout() throws {
        let simulator = try FCMFixture().simulator
        func subject(_ path: String, _ body: String = "") -> SimulatedSubject {
            simulator.subject(of: HTTPRequest(.post, path, body: Array(body.utf8)))
        }
        #expect(subject("/token") == SimulatedSubject(.token))
        #expect(subject("/fcm/send") == SimulatedSubject(.manage))
        let path = "/v1/projects/p/messages:send"
        #expect(subject(path) == SimulatedSubject(.send, app: "p"))
        #expect(
            subject(path, #"{"message":{"token":"a~unregistered"}}"#)
                == SimulatedSubject(.send, app: "p", handle: "a~unregistered", marker: .unregistered))
    }

    @Test func aHandleWithAMarkerIsADeviceThatATestHasMadeUp() throws {
        var fixture = try FCMFixture()
        #expect(try fixture.answer(#"{"message":{"token":"x~throttle3"}}"#).status == .ok)
        #expect(try fixture.answer(#"{"message":{"token":"x~nonsense"}}"#).status == .badRequest)
    }
}
