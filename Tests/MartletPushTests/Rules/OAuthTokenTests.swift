import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct OAuthTokenTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    private func answer(_ status: Int, _ body: String, _ fields: HTTPFields = [:]) -> TokenAnswer {
        OAuthToken.answer(
            HTTPResponse(HTTPStatus(status), fields: fields, body: .bytes(Array(body.utf8))), at: now)
    }

    private func refusal(_ status: Int, _ body: String, _ fields: HTTPFields = [:]) -> Outcome? {
        guard case .refused(let outcome) = answer(status, body, fields) else { return nil }
        return outcome
    }

    @Test func aFormIsPostedEncoded() throws {
        let origin = HTTPOrigin(scheme: .https, host: "tokens.example")
        let form: KeyValuePairs = ["grant_type": "client_credentials", "client_id": "ms-app://S-1+2", "empty": ""]
        guard case .exchange(let exchange) = OAuthToken.exchange(form, to: origin, path: "/t?x=1") else {
            Issue.record("a token is asked for")
            return
        }
        #expect(exchange.origin == origin)
        #expect(exchange.request.method == .post)
        #expect(exchange.request.target == "/t?x=1")
        #expect(exchange.request.fields["content-type"] == "application/x-www-form-urlencoded")
        #expect(
            String(decoding: exchange.request.body, as: UTF8.self)
                == "grant_type=client_credentials&client_id=ms-app%3A%2F%2FS-1%2B2&empty=")
    }

    @Test(arguments: [
        #"{"access_token":"ya29.x","expires_in":3600,"token_type":"Bearer"}"#,
        #"{"access_token":"ya29.x","expires_in":"3600","token_type":"bearer"}"#,
    ])
    func aTokenIsTakenWithItsTimes(body: String) throws {
        guard case .token(let token) = answer(200, body) else {
            Issue.record("this is a token")
            return
        }
        #expect(token.value == "ya29.x")
        #expect(token.renewableAt == now)
        #expect(token.expiresAt == now + .seconds(3540))
        #expect(!token.description.contains("ya29"))
    }

    @Test(arguments: [
        "", "<html>", "[]", "{}", #"{"access_token":"x"}"#, #"{"access_token":"","expires_in":1}"#,
        #"{"access_token":"a b","expires_in":1}"#, #"{"access_token":"a\r\nb","expires_in":1}"#,
        #"{"access_token":"x","expires_in":0}"#, #"{"access_token":"x","expires_in":"soon"}"#,
    ])
    func anAnswerWithoutATokenIsAskedForAgain(body: String) throws {
        let outcome = try #require(refusal(200, body))
        #expect(outcome.name == .tokenProviderInterfaceError)
        #expect(outcome.reaction == .retry(after: .seconds(60), scope: .platform))
    }

    @Test(arguments: [
        (400, #"{"error":"invalid_grant","error_description":"secret"}"#, "invalid_grant"),
        (401, #"{"error":"invalid_client"}"#, "invalid_client"), (400, #"{"reason":"INVALID"}"#, "INVALID"),
        (400, "", "status 400"), (403, #"{"error":"with a secret"}"#, "status 403"),
    ])
    func aRefusedCredentialStopsEverything(status: Int, body: String, reason: String) throws {
        #expect(refusal(status, body) == Outcome(.invalidCredentials, reason: reason, .stop))
    }

    @Test(
        arguments: [
            (500, [:], 10), (503, ["retry-after": "120"], 120),
            (429, ["retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"], 30),
        ] as [(Int, HTTPFields, Int)])
    func aServiceThatIsBusyIsLeftAlone(status: Int, fields: HTTPFields, seconds: Int) throws {
        let outcome = try #require(refusal(status, "", fields))
        #expect(outcome.name == .tokenProviderUnreachable)
        #expect(outcome.reaction == .retry(after: .seconds(seconds), scope: .platform))
    }

    @Test func aRedirectionIsNotFollowed() throws {
        #expect(refusal(302, "", ["location": "https://elsewhere.example"])?.name == .tokenProviderInterfaceError)
    }
}
