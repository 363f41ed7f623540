import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

/// The checks of PushServices.md, section 10.3.
struct FCMSimulatorTests {
    private static let now = FCMFixture.now

    private func error(_ response: HTTPResponse) throws -> (Int, String?, String?, String?) {
        let error = try JSON(parsing: response.bytes)["error"]
        let code = error?["details"]?.array?.first { $0["@type"]?.string == FCMAnswer.errorType }?["errorCode"]
        return (response.status.code, error?["status"]?.string, code?.string, error?["message"]?.string)
    }

    private func body(_ message: String, to token: String) -> String {
        #"{"message":{"token":"\#(token)"\#(message.isEmpty ? "" : ",")\#(message)}}"#
    }

    // MARK: Tokens

    private func tokenError(_ change: (inout HTTPRequest) throws -> Void) throws -> (Int, String?) {
        var fixture = try FCMFixture()
        var request = try fixture.exchange()
        try change(&request)
        let response = fixture.simulator.answer(request, at: Self.now).response
        return (response.status.code, try JSON(parsing: response.bytes)["error"]?.string)
    }

    private func assertionError(
        _ change: (inout [String: JSON]) -> Void, key: RSAPrivateKey? = nil, alg: String = "RS256"
    ) throws -> (Int, String?) {
        let fixture = try FCMFixture()
        let own = try RSAPrivateKey(pem: fixture.credential.properties["PrivateKey"] ?? "")
        var claims: [String: JSON] = [
            "iss": .string(fixture.credential.properties["ClientEmail"] ?? ""), "aud": "https://localhost:8443/token",
            "scope": .string(FCMAssertion.scope), "iat": .integer(Self.now.seconds),
            "exp": .integer(Self.now.seconds + 3600),
        ]
        change(&claims)
        let header: JSON = ["alg": .string(alg)]
        let signed = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(JSON.object(claims).bytes))"
        let assertion = "\(signed).\(Base64URL.encode(try (key ?? own).signature(for: Array(signed.utf8))))"
        var simulator = fixture.simulator
        var request = try fixture.exchange()
        request.body = Array("grant_type=\(FCMAssertion.grantType)&assertion=\(assertion)".utf8)
        let response = simulator.answer(request, at: Self.now).response
        return (response.status.code, try JSON(parsing: response.bytes)["error"]?.string)
    }

    @Test func aRequestForATokenIsAForm() throws {
        #expect(try tokenError { _ in } == (200, nil))
        #expect(try tokenError { $0.fields["content-type"] = "application/json" } == (400, "invalid_request"))
        #expect(try tokenError { $0.body = Array("grant_type=password".utf8) } == (400, "unsupported_grant_type"))
        let grant = "grant_type=\(FCMAssertion.grantType)"
        #expect(try tokenError { $0.body = Array(grant.utf8) } == (400, "invalid_request"))
        #expect(try tokenError { $0.body = Array("\(grant)&assertion=x".utf8) } == (400, "invalid_grant"))
        var fixture = try FCMFixture()
        var request = try fixture.exchange()
        request.method = .get
        #expect(fixture.simulator.answer(request, at: Self.now).response.status == .notFound)
    }

    @Test func anAssertionIsJudged() throws {
        let now = Self.now.seconds
        #expect(try assertionError { _ in } == (200, nil))
        #expect(try assertionError({ _ in }, key: .generate()) == (400, "invalid_grant"))
        #expect(try assertionError({ _ in }, alg: "HS256") == (400, "invalid_grant"))
        #expect(try assertionError { $0["iss"] = "other@example.com" } == (400, "invalid_grant"))
        #expect(try assertionError { $0["aud"] = "https://oauth2.example/token" } == (400, "invalid_grant"))
        #expect(try assertionError { $0["exp"] = .integer(now + 3600 + 301) } == (400, "invalid_grant"))
        #expect(try assertionError { $0["exp"] = .integer(now - 1) } == (400, "invalid_grant"))
        #expect(try assertionError { $0["iat"] = .integer(now + 301) } == (400, "invalid_grant"))
        #expect(try assertionError { $0["iat"] = .integer(.min) } == (400, "invalid_grant"))
        #expect(try assertionError { $0["iat"] = "now" } == (400, "invalid_grant"))
        #expect(try assertionError { $0["scope"] = "email" } == (400, "invalid_scope"))
        #expect(
            try assertionError { $0["scope"] = "email https://www.googleapis.com/auth/cloud-platform" } == (200, nil))
    }

    @Test func anAssertionWithAnyKeyIsAcceptedIfTheSimulatorIsToldTo() throws {
        var fixture = try FCMFixture { $0.acceptsAnyKey = true }
        let key = try RSAPrivateKey.generate()
        let assertion = try FCMAssertion.sign(
            issuer: "me@example.com", audience: "https://localhost:8443/token", at: Self.now, with: key)
        var request = try fixture.exchange()
        request.body = Array("grant_type=\(FCMAssertion.grantType)&assertion=\(assertion)".utf8)
        let response = fixture.simulator.answer(request, at: Self.now).response
        let token = try #require(try JSON(parsing: response.bytes)["access_token"]?.string)
        let device = try fixture.device(["projectId": "mine"])
        #expect(try fixture.answer(body("", to: device), project: "mine", token: token).status == .ok)
    }

    // MARK: Messages

    @Test func unknownPathsAreAnsweredWithAPage() throws {
        var fixture = try FCMFixture()
        for (method, path) in [
            (HTTPMethod.post, "/fcm/send"), (.post, "/gcm/send"), (.get, "/v1/projects/example-project/messages:send"),
            (.post, "/v1/projects//messages:send"), (.post, "/v1/projects/p/messages"), (.post, "/batch"),
        ] {
            let response = fixture.simulator.answer(HTTPRequest(method, path), at: Self.now).response
            #expect(response.status == .notFound && response.fields["content-type"]?.hasPrefix("text/html") == true)
        }
    }

    @Test func theTokenIsJudgedBeforeTheMessage() throws {
        var fixture = try FCMFixture()
        let own = try fixture.accessToken().value
        let path = "/v1/projects/example-project/messages:send"
        let none = fixture.simulator.answer(HTTPRequest(.post, path), at: Self.now).response
        #expect(try error(none).0 == 401)
        #expect(try error(fixture.answer("x", token: "other")) == (401, "UNAUTHENTICATED", nil, FCMFixture.badToken))
        let late = Self.now + .seconds(3600)
        let expired = try fixture.answer("x", token: own, at: late)
        #expect(FCMAnswer(expired).infoReason == "ACCESS_TOKEN_EXPIRED")
        #expect(try error(fixture.answer("x", project: "other", token: own)).1 == "PERMISSION_DENIED")
    }

    @Test(arguments: [
        ("hello", nil), ("[]", nil), (#"{"message":{"token":"TOKEN","data":{"n":3}}}"#, nil),
        (#"{"message":{"token":"TOKEN","priority":"high"}}"#, nil), (#"{"massage":{}}"#, nil),
        (#"{"message":{"token":"TOKEN","android":{"priority":"LOUD"}}}"#, nil),
        (#"{"message":{"token":"TOKEN","android":{"notification":{"body_loc_args":"x"}}}}"#, nil),
        (#"{"message":{"token":"TOKEN","android":{"ttl":"60"}}}"#, nil),
        (#"{"message":{"token":"TOKEN","android":{"ttl":"2419201s"}}}"#, nil),
        (#"{"message":{}}"#, "INVALID_ARGUMENT"), ("{}", "INVALID_ARGUMENT"),
        (#"{"message":{"token":"TOKEN","topic":"news"}}"#, "INVALID_ARGUMENT"),
        (#"{"message":{"token":"TOKEN","data":{"from":"x"}}}"#, "INVALID_ARGUMENT"),
        (#"{"message":{"token":"TOKEN","android":{"notification":{"color":"red"}}}}"#, "INVALID_ARGUMENT"),
        (#"{"message":{"token":"TOKEN","webpush":{"fcm_options":{"link":"http://a"}}}}"#, "INVALID_ARGUMENT"),
        (#"{"message":{"topic":"/topics/x"}}"#, "INVALID_ARGUMENT"),
        (#"{"message":{"token":"TOKEN","apns":{"payload":{}}}}"#, "INVALID_ARGUMENT"),
        (#"{"message":{"token":"TOKEN","apns":{"headers":{"apns-priority":"7"}}}}"#, "INVALID_ARGUMENT"),
        (#"{"message":{"token":"short"}}"#, "INVALID_ARGUMENT"),
    ])
    func invalidPartsOfAMessageAreRefused(body: String, code: String?) throws {
        var fixture = try FCMFixture()
        let device = try fixture.device()
        let found = try error(fixture.answer(body.replacing("TOKEN", with: device)))
        #expect(found.0 == 400 && found.1 == "INVALID_ARGUMENT" && found.2 == code)
        #expect(fixture.simulator.devices[device]?.accepted == 0)
    }

    @Test(arguments: [
        #""android":{"priority":"high","notification":{"notificationPriority":"PRIORITY_MAX","channelId":"c"}}"#,
        #""data":{"a":"b"},"apns":{"payload":{"aps":{"badge":1},"own":[1]}},"fcmOptions":{"analytics_label":"x"}"#,
        #""webpush":{"notification":{"title":"x","actions":[]},"fcm_options":{"link":"https://a/b"}}"#, "",
    ])
    func validInputIsAccepted(message: String) throws {
        var fixture = try FCMFixture()
        let device = try fixture.device()
        #expect(try fixture.answer(body(message, to: device)).status == .ok)
        #expect(fixture.simulator.devices[device]?.accepted == 1)
    }

    @Test func aMessageMayHaveFourKilobytes() throws {
        var fixture = try FCMFixture()
        let device = try fixture.device()
        let room = String(repeating: "x", count: 4092)
        #expect(try fixture.answer(body(#""data":{"name":"\#(room)"}"#, to: device)).status == .ok)
        let large = try error(fixture.answer(body(#""data":{"name":"\#(room)x"}"#, to: device)))
        #expect(large == (400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", "Message is too big"))
    }

    @Test func aDeviceIsOfAProjectAndMayBeGone() throws {
        var fixture = try FCMFixture()
        let other = try fixture.device(["projectId": "other"])
        #expect(
            try error(fixture.answer(body("", to: other)))
                == (403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", "SenderId mismatch"))
        let gone = try fixture.device()
        _ = fixture.simulator.devices.remove(gone, at: Self.now)
        let unregistered = (404, "NOT_FOUND", "UNREGISTERED", "Requested entity was not found.")
        #expect(try error(fixture.answer(body("", to: gone))) == unregistered)
        let never = String(gone.reversed()).replacing("b19APA:", with: ":APA91b")
        #expect(try error(fixture.answer(body("", to: never))).0 >= 400)
    }

    @Test func appleDevicesNeedTheProjectsKey() throws {
        var fixture = try FCMFixture()
        let device = try fixture.device(["projectId": "p", "system": "ios"])
        let key = try RSAPrivateKey.generate()
        try fixture.simulator.register(app: [
            "projectId": "p", "clientEmail": "me@example.com", "publicKey": .string(try key.publicKey.pem()),
            "reachesApple": false,
        ])
        let assertion = try FCMAssertion.sign(
            issuer: "me@example.com", audience: "https://localhost:8443/token", at: Self.now, with: key)
        var request = try fixture.exchange()
        request.body = Array("grant_type=\(FCMAssertion.grantType)&assertion=\(assertion)".utf8)
        let response = fixture.simulator.answer(request, at: Self.now).response
        let token = try #require(try JSON(parsing: response.bytes)["access_token"]?.string)
        let found = try error(fixture.answer(body("", to: device), project: "p", token: token))
        #expect(found.2 == "THIRD_PARTY_AUTH_ERROR")
    }

    @Test func quotasAreOfTheProjectAndOfTheDevice() throws {
        var fixture = try FCMFixture {
            $0.messagesPerMinute = 3
            $0.deviceMessagesPerMinute = 1
        }
        let (first, second) = (try fixture.device(), try fixture.device())
        #expect(try fixture.answer(body("", to: first)).status == .ok)
        #expect(try error(fixture.answer(body("", to: first))).2 == "QUOTA_EXCEEDED")
        #expect(try fixture.answer(body("", to: second)).status == .ok)
        let project = try fixture.answer(body("", to: second))
        #expect(try error(project).2 == nil && FCMAnswer(project).infoReason == "RATE_LIMIT_EXCEEDED")
        #expect(try fixture.answer(body("", to: second), at: Self.now + .seconds(60)).status == .ok)
    }

    @Test func aValidateOnlyMessageReachesNoDevice() throws {
        var fixture = try FCMFixture()
        let device = try fixture.device()
        let response = try fixture.answer(#"{"validate_only":true,"message":{"token":"\#(device)"}}"#)
        #expect(
            try JSON(parsing: response.bytes)["name"] == "projects/example-project/messages/fake_message_id")
        #expect(fixture.simulator.devices[device]?.accepted == 0)
        #expect(try fixture.answer(#"{"message":{"topic":"news","data":{}}}"#).status == .ok)
    }

    @Test func aCollapseKeyReplacesWhatWaits() throws {
        var fixture = try FCMFixture()
        let device = try fixture.device()
        for (text, key) in [("1", "a"), ("2", "b"), ("3", "a")] {
            let message = #""android":{"collapse_key":"\#(key)"},"notification":{"body":"\#(text)"}"#
            _ = try fixture.answer(body(message, to: device))
        }
        _ = try fixture.answer(body(#""android":{"ttl":"0s"},"data":{"message":"4"}"#, to: device))
        let stored = fixture.simulator.devices[device]?.stored.map(\.text)
        #expect(stored == ["2", "3"])
        #expect(fixture.simulator.devices[device]?.inbox.map(\.text) == ["1", "2", "3", "4"])
    }
}

extension FCMFixture {
    static let badToken = "Request had invalid authentication credentials. Expected OAuth 2 access token."
}
