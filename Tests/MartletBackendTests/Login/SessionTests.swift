import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

struct SessionTests {
    func open(_ fixture: Fixture, _ body: String = #"{"user":"alice","password":"alice1"}"#) async -> HTTPResponse {
        await fixture.ask(.post, "/api/sessions", body)
    }

    func bearer(_ response: HTTPResponse) throws -> HTTPFields {
        ["authorization": "Bearer " + (try #require(try response.json["token"]?.string))]
    }

    @Test func aSessionOpensWithAPasswordAndWorksAsTheUser() async throws {
        let fixture = try await Fixture()
        let response = await open(fixture)
        #expect(response.status == .created)
        #expect(response.fields["cache-control"] == "no-store")
        let token = try #require(try response.json["token"]?.string)
        #expect(Base64URL.decode(token)?.count == 32)
        let expires = try #require(try response.json["expires"]?.string)
        #expect(Timestamp(iso8601: expires) == fixture.time.now + .seconds(30 * 86_400))
        #expect(await fixture.ask(.post, "/api/register", fields: try bearer(response)).status == .ok)
    }

    @Test func onlyTheHashOfATokenIsStored() async throws {
        let fixture = try await Fixture()
        let token = try #require(try await open(fixture).json["token"]?.string)
        let hash = SHA256.hash(Array(token.utf8))
        #expect(try await fixture.storage.session(tokenHash: hash, at: fixture.time.now)?.userName == "alice")
        #expect(try await fixture.storage.session(tokenHash: Array(token.utf8), at: fixture.time.now) == nil)
    }

    @Test func aRevokedSessionIsOverAndOthersAreNot() async throws {
        let fixture = try await Fixture()
        let one = try bearer(await open(fixture))
        let two = try bearer(await open(fixture))
        #expect(await fixture.ask(.delete, "/api/sessions", fields: one).status == .noContent)
        let refused = await fixture.ask(.post, "/api/register", fields: one)
        #expect(refused.status == .unauthorized)
        #expect(refused.fields.values(of: "www-authenticate").contains { $0.contains("invalid_token") })
        #expect(await fixture.ask(.delete, "/api/sessions", fields: one).status == .unauthorized)
        #expect(await fixture.ask(.post, "/api/register", fields: two).status == .ok)
    }

    @Test func aSessionExpires() async throws {
        let fixture = try await Fixture(settings: BackendSettings(sessionLifetime: .seconds(60)))
        let fields = try bearer(await open(fixture))
        fixture.time.advance(by: .seconds(59))
        #expect(await fixture.ask(.post, "/api/register", fields: fields).status == .ok)
        fixture.time.advance(by: .seconds(1))
        #expect(await fixture.ask(.post, "/api/register", fields: fields).status == .unauthorized)
    }

    @Test func aNewPasswordEndsSessions() async throws {
        let fixture = try await Fixture()
        let fields = try bearer(await open(fixture))
        try await fixture.users.add("Alice", password: "new")
        #expect(await fixture.ask(.post, "/api/register", fields: fields).status == .unauthorized)
    }

    @Test func basicOpensNoSessionToEnd() async throws {
        let fixture = try await Fixture()
        #expect(await fixture.ask(.delete, "/api/sessions", as: "alice").status == .badRequest)
    }

    @Test(arguments: [
        ("", 400), ("[]", 400), (#"{"user":"alice"}"#, 400), (#"{"user":"alice","password":1}"#, 400),
        (#"{"user":"alice","password":"alice1","USER":"bob"}"#, 400), (#"{"user":"alice","password":"no"}"#, 401),
        (#"{"user":"","password":""}"#, 401), (#"{"USER":"Alice","Password":"alice1"}"#, 201),
        (#"{"user":"alice","password":"alice1","x":[[[[[1]]]]]}"#, 400),
    ])
    func aBodyThatIsNotALogInIsRefused(body: String, status: Int) async throws {
        let fixture = try await Fixture()
        #expect(await open(fixture, body).status.code == status)
    }

    @Test func aSessionLetsOneInWhileOthersGuess() async throws {
        let fixture = try await Fixture()
        let fields = try bearer(await open(fixture))
        for _ in 0..<60 { _ = await open(fixture, #"{"user":"alice","password":"guess"}"#) }
        #expect(await fixture.ask(.post, "/api/register", fields: fields).status == .ok)
    }
}
