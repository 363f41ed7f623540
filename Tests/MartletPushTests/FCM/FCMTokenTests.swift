import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct FCMTokenTests {
    private func answer(_ status: Int, _ body: String, _ fields: HTTPFields = [:]) throws -> TokenAnswer {
        try FCMFixture().service.token(
            from: HTTPResponse(HTTPStatus(status), fields: fields, body: .bytes(Array(body.utf8))), at: FCMFixture.now)
    }

    @Test func anAssertionSaysWhatTheEndpointAsksFor() throws {
        let fixture = try FCMFixture()
        let request = try fixture.exchange()
        #expect(request.method == .post && request.target == "/token")
        #expect(request.fields["content-type"] == "application/x-www-form-urlencoded")
        let body = String(decoding: request.body, as: UTF8.self)
        let prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        #expect(body.hasPrefix(prefix))
        let assertion = try #require(FCMAssertion(body.dropFirst(prefix.count)))
        #expect(
            assertion.claims == [
                "iss": .string(fixture.credential.properties["ClientEmail"] ?? ""),
                "aud": "https://localhost:8443/token", "scope": "https://www.googleapis.com/auth/firebase.messaging",
                "iat": 1_700_000_000, "exp": 1_700_003_600,
            ])
        let key = try RSAPrivateKey(pem: fixture.credential.properties["PrivateKey"] ?? "")
        #expect(assertion.isSigned(by: key.publicKey))
        #expect(try !assertion.isSigned(by: RSAPrivateKey.generate().publicKey))
    }

    @Test func aTokenIsGoodForAsLongAsTheEndpointSays() throws {
        var fixture = try FCMFixture()
        let token = try fixture.accessToken()
        #expect(token.expiresAt == FCMFixture.now + .seconds(3539), "a minute before its end")
        guard case .token(let other) = try answer(200, #"{"access_token":"a","expires_in":"60"}"#) else {
            Issue.record("a lifetime may be a text")
            return
        }
        #expect(other.value == "a" && other.expiresAt == FCMFixture.now + .seconds(54))
    }

    @Test(arguments: [
        (400, #"{"error":"invalid_grant"}"#, OutcomeName.invalidCredentials, "invalid_grant", Reaction.stop),
        (401, #"{"error":"invalid_client"}"#, .invalidCredentials, "invalid_client", .stop),
        (403, "", .invalidCredentials, "status 403", .stop),
        (404, "<html>", .invalidCredentials, "status 404", .stop),
        (302, "", .tokenProviderInterfaceError, "status 302", .retry(after: .seconds(60), scope: .platform)),
        (429, "", .tokenProviderUnreachable, "status 429", .retry(after: .seconds(10), scope: .platform)),
        (500, "", .tokenProviderUnreachable, "status 500", .retry(after: .seconds(10), scope: .platform)),
    ])
    func everyRefusalHasItsReaction(
        status: Int, body: String, name: OutcomeName, reason: String, reaction: Reaction
    ) throws {
        guard case .refused(let outcome) = try answer(status, body) else {
            Issue.record("\(status) gives no token")
            return
        }
        #expect(outcome == Outcome(name, reason: reason, reaction))
    }

    @Test(arguments: [
        "<html>", "{}", #"{"access_token":"a"}"#, #"{"access_token":"a b","expires_in":9}"#,
        #"{"access_token":"a","expires_in":0}"#, #"{"access_token":"","expires_in":9}"#,
    ])
    func nonsenseIsNoToken(body: String) throws {
        guard case .refused(let outcome) = try answer(200, body) else {
            Issue.record("that is no token")
            return
        }
        #expect(outcome.name == .tokenProviderInterfaceError)
        #expect(outcome.reaction == .retry(after: .seconds(60), scope: .platform))
    }

    @Test func theEndpointIsLeftAloneForAsLongAsItAsks() throws {
        guard case .refused(let outcome) = try answer(503, "", ["retry-after": "90"]) else { return }
        #expect(outcome.reaction == .retry(after: .seconds(90), scope: .platform))
    }
}
