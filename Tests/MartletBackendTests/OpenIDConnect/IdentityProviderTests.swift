import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletBackend
@testable import MartletOpenIDConnect

/// Tokens of an identity provider at the backend's routes; the provider is a transport that answers.
struct IdentityProviderTests {
    let maker: TokenMaker
    let web = ProviderWeb()

    init() throws {
        maker = try TokenMaker()
        web.publish([maker.jwk])
    }

    private func fixture(rolesClaim: String? = nil, keys: String? = nil) async throws -> Fixture {
        let settings = try OpenIDConnectSettings(
            issuer: TokenMaker.issuer, audience: TokenMaker.audience, keys: keys, rolesClaim: rolesClaim)
        return try await Fixture { [web] time in
            IdentityProvider(settings, transport: web, time: time, log: { web.record($0) })
        }
    }

    private func ask(
        _ fixture: Fixture, _ token: String, _ method: HTTPMethod = .post, _ target: String = "/api/register"
    ) async -> HTTPResponse {
        await fixture.ask(method, target, fields: ["authorization": "Bearer \(token)"])
    }

    private func token(
        _ fixture: Fixture, _ changes: [String: JSON] = [:], by maker: TokenMaker? = nil
    )
        throws -> String
    {
        try (maker ?? self.maker).token(TokenMaker.claims(at: fixture.time.now).merging(changes) { $1 })
    }

    @Test func aTokenOpensWhatASessionDoes() async throws {
        let fixture = try await fixture()
        let token = try token(fixture, ["preferred_username": "dora"])
        let id = try #require(try await ask(fixture, token).json.string)
        let body = #"{"Platform":"pigeon","Handle":"coop","Tags":[]}"#
        let put = await fixture.ask(.put, "/api/register/\(id)", body, fields: ["authorization": "Bearer \(token)"])
        #expect(put.status == .ok, "\(put.message)")
        #expect(try await fixture.registration(id)?.tags.map(\.folded) == ["username:dora"])
        #expect(web.asked == ["/realm/.well-known/openid-configuration", "/realm/keys"])
    }

    @Test func aUserOfTheProviderIsTheLocalUserOfThatName() async throws {
        let fixture = try await fixture()
        let id = try await fixture.register("coop", as: "alice")
        let token = try token(fixture, ["preferred_username": "ALICE"])
        #expect(await ask(fixture, token, .delete, "/api/register/\(id)").status == .ok)
        #expect(try await fixture.registration(id) == nil)
    }

    @Test func aRefusedTokenSaysWhyAsRFC6750Wants() async throws {
        let fixture = try await fixture()
        let refused = await ask(fixture, try token(fixture, ["aud": "other"]))
        #expect(refused.status == .unauthorized)
        #expect(try refused.json["code"] == 40103)
        #expect(
            refused.fields.values(of: "www-authenticate").last
                == #"Bearer realm="martlet", error="invalid_token", error_description="\#(refused.message)""#)
        let nothing = await fixture.ask(.post, "/api/register")
        #expect(nothing.fields.values(of: "www-authenticate").last == #"Bearer realm="martlet""#)
    }

    @Test func aNameThatCannotBeAUserIsForbidden() async throws {
        let fixture = try await fixture()
        let refused = await ask(fixture, try token(fixture, ["preferred_username": "a:b"]))
        #expect(refused.status == .forbidden)
        #expect(try refused.json["code"] == 40301)
        #expect(refused.message.contains("preferred_username"))
    }

    @Test func withoutAProviderNoTokenOpensAnything() async throws {
        let fixture = try await Fixture()
        let refused = await ask(fixture, try token(fixture))
        #expect(refused.status == .unauthorized)
        #expect(try refused.json["code"] == 40103)
    }

    @Test func aTokenIsNoSessionToEnd() async throws {
        let fixture = try await fixture()
        #expect(await ask(fixture, try token(fixture), .delete, "/api/sessions").status == .badRequest)
    }

    @Test func keysAreFetchedOnceHoweverManyCome() async throws {
        let fixture = try await fixture(keys: "https://id.example/realm/keys")
        let token = try token(fixture)
        web.holdBack()
        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { #expect(await ask(fixture, token).status == .ok) } }
            await web.untilAsked()
            web.letGo()
        }
        #expect(web.asked == ["/realm/keys"])
    }

    @Test func aNewKeyIsFoundAndAnOldOneForgotten() async throws {
        let fixture = try await fixture()
        #expect(await ask(fixture, try token(fixture)).status == .ok)
        let next = try TokenMaker(id: "two")
        web.publish([next.jwk])
        #expect(await ask(fixture, try token(fixture)).status == .ok, "fresh keys are kept")
        #expect(await ask(fixture, try token(fixture, by: next)).status == .ok)
        #expect(await ask(fixture, try token(fixture)).status == .unauthorized)
    }

    @Test func strangersDoNotMakeUsHammerTheProvider() async throws {
        let fixture = try await fixture(keys: "https://id.example/realm/keys")
        for number in 0..<50 {
            let stranger = try TokenMaker(id: "stranger \(number)")
            #expect(await ask(fixture, try token(fixture, by: stranger)).status == .unauthorized)
        }
        #expect(web.asked.count == 5)
        #expect(await ask(fixture, try token(fixture)).status == .ok)
    }

    @Test func aForeignIssuerIsRefusedWithoutAsking() async throws {
        let fixture = try await fixture()
        #expect(await ask(fixture, try token(fixture, ["iss": "https://elsewhere.example"])).status == .unauthorized)
        #expect(web.asked.isEmpty)
    }

    @Test func whileTheProviderIsDownItsKeysGoOn() async throws {
        let fixture = try await fixture()
        #expect(await ask(fixture, try token(fixture)).status == .ok)
        web.fail(503)
        fixture.time.advance(by: .seconds(2 * 3600))
        #expect(await ask(fixture, try token(fixture)).status == .ok)
        #expect(web.notes.count == 1)
        fixture.time.advance(by: .seconds(30 * 3600))
        let refused = await ask(fixture, try token(fixture))
        #expect(refused.status == .serviceUnavailable)
        #expect(try refused.json["code"] == 50305)
        #expect(refused.fields["retry-after"] == "31")
    }

    /// A provider for signing in, with a clock of its own.
    private func provider() throws -> (IdentityProvider, ManualTimeSource) {
        let time = ManualTimeSource()
        configure(authorization: "https://id.example/realm/auth")
        let settings = try OpenIDConnectSettings(issuer: TokenMaker.issuer, audience: TokenMaker.audience)
        return (IdentityProvider(settings, transport: web, time: time) { [web] in web.record($0) }, time)
    }

    private func configure(authorization: String) {
        web.answer(
            "/realm/.well-known/openid-configuration",
            with: [
                "issuer": .string(TokenMaker.issuer), "jwks_uri": "https://id.example/realm/keys",
                "authorization_endpoint": .string(authorization), "token_endpoint": "https://id.example/realm/token",
            ])
    }

    @Test func whileTheProviderIsDownItsConfigurationGoesOnForADay() async throws {
        let (provider, time) = try provider()
        let good = try await provider.configuration().authorizationURL([])
        web.fail(503)
        time.advance(by: .seconds(3600))
        #expect(try await provider.configuration().authorizationURL([]) == good)
        #expect(web.notes.count == 1 && web.notes[0].contains("its last one is used"))
        #expect(try await provider.configuration().authorizationURL([]) == good)
        #expect(web.asked.count == 2, "the provider that has just failed is left alone")
        time.advance(by: .seconds(86_399))
        #expect(try await provider.configuration().authorizationURL([]) == good)
        time.advance(by: .seconds(60))
        await #expect(throws: IdentityProviderError.self) { try await provider.configuration() }
        #expect(web.notes.last?.contains("cannot be used") == true)
    }

    @Test(arguments: [false, true])
    func aClockThatIsSetBackHoldsNeitherAConfigurationNorAFailure(fails: Bool) async throws {
        let (provider, time) = try provider()
        if fails { web.fail(503) }
        _ = try? await provider.configuration()
        time.advance(by: .seconds(-30 * 86_400))
        web.fail(nil)
        configure(authorization: "https://id.example/realm/other")
        #expect(
            try await provider.configuration().authorizationURL([]).hasPrefix("https://id.example/realm/other"))
    }

    @Test func aConfigurationGoesOnForADayAfterTheClockIsSetBackToo() async throws {
        let (provider, time) = try provider()
        let good = try await provider.configuration().authorizationURL([])
        web.fail(503)
        time.advance(by: .seconds(-30 * 86_400))
        #expect(try await provider.configuration().authorizationURL([]) == good)
        time.advance(by: .seconds(86_399))
        #expect(try await provider.configuration().authorizationURL([]) == good)
        time.advance(by: .seconds(60))
        await #expect(throws: IdentityProviderError.self) { try await provider.configuration() }
    }

    static let misconfigured: [(document: JSON, sentence: String)] = [
        (["issuer": "https://id.example/realm/", "jwks_uri": "https://id.example/realm/keys"], "another issuer"),
        (["jwks_uri": "https://id.example/realm/keys"], "another issuer"),
        (["issuer": "https://id.example/realm", "jwks_uri": "http://id.example/realm/keys"], "no https URL"),
        (["issuer": "https://id.example/realm"], "no https URL"),
    ]

    @Test(arguments: misconfigured)
    func aConfigurationThatDoesNotFitGivesNoKeys(document: JSON, sentence: String) async throws {
        let fixture = try await fixture()
        web.answer("/realm/.well-known/openid-configuration", with: document)
        #expect(await ask(fixture, try token(fixture)).status == .serviceUnavailable)
        #expect(web.notes.first?.contains(sentence) == true, "\(web.notes)")
        #expect(web.asked.count == 1)
    }

    @Test(arguments: [
        ("https://id.example/realm/keys", TransportSettings.Addresses.any), ("https://id.example:8443/k", .publicOnly),
        ("https://keys.example/k", .publicOnly), ("https://169.254.169.254/k", .publicOnly),
        ("https://10.0.0.1/k", .publicOnly),
    ])
    func aConfigurationLeadsNotIntoPrivateNetworks(keys: String, addresses: TransportSettings.Addresses) async throws {
        let fixture = try await fixture()
        web.answer(
            "/realm/.well-known/openid-configuration",
            with: ["issuer": .string(TokenMaker.issuer), "jwks_uri": .string(keys)])
        _ = await ask(fixture, try token(fixture))
        #expect(web.addresses == [.any, addresses])
    }

    @Test(arguments: [
        "https://localhost:21190/k", "https://127.0.0.1/k", "https://[::1]/k", "http://127.0.0.1:21191/k",
    ])
    func aConfigurationLeadsNotToThisMachine(keys: String) async throws {
        let fixture = try await fixture()
        web.answer(
            "/realm/.well-known/openid-configuration",
            with: ["issuer": .string(TokenMaker.issuer), "jwks_uri": .string(keys)])
        #expect(await ask(fixture, try token(fixture)).status == .serviceUnavailable)
        #expect(web.notes.first?.contains("its keys are on this machine") == true, "\(web.notes)")
        #expect(web.addresses.count == 1)
    }

    @Test func aProviderOnThisMachineLeadsToThisMachineAlone() async throws {
        let issuer = "http://127.0.0.1:21102"
        let settings = try OpenIDConnectSettings(issuer: issuer, audience: TokenMaker.audience)
        web.answer(
            "/.well-known/openid-configuration",
            with: ["issuer": .string(issuer), "jwks_uri": "https://id.example/realm/keys"])
        let documents = ProviderDocuments(settings: settings, transport: web)
        _ = try? await documents.keys()
        #expect(web.addresses == [.any, .loopbackOnly])
    }

    @Test func theOperatorMayNameKeysAnywhere() async throws {
        let fixture = try await fixture(keys: "https://id.example/realm/keys")
        #expect(await ask(fixture, try token(fixture)).status == .ok)
        #expect(web.addresses == [.any])
    }

    @Test func ofKeysWithTheSameIDEachIsTried() async throws {
        let fixture = try await fixture()
        let others = try (0..<4).map { _ in try TokenMaker(id: maker.id).jwk }
        web.publish(others.prefix(3) + [maker.jwk])
        #expect(await ask(fixture, try token(fixture)).status == .ok)
        #expect(await ask(fixture, try token(fixture, by: try TokenMaker(id: maker.id))).status == .unauthorized)
    }

    @Test func moreThanFourKeysOfAnIDAreNotTried() async throws {
        let fixture = try await fixture()
        web.publish(try (0..<4).map { _ in try TokenMaker(id: maker.id).jwk } + [maker.jwk])
        #expect(await ask(fixture, try token(fixture)).status == .unauthorized)
    }

    @Test func anEndlessAnswerIsRefused() async throws {
        let fixture = try await fixture(keys: "https://id.example/realm/keys")
        web.answer("/realm/keys", with: ["keys": [maker.jwk], "x": .string(String(repeating: "x", count: 300_000))])
        #expect(await ask(fixture, try token(fixture)).status == .serviceUnavailable)
        #expect(web.notes.first?.contains("too long") == true)
    }

    static let freshness: [(value: String?, duration: Duration?)] = [
        (nil, nil), ("public, max-age=600", .seconds(600)), ("Max-Age=\"7\"", .seconds(7)), ("no-store", .zero),
        ("max-age=x", nil), ("max-age=", nil), ("max-age=99999999999999999999", .seconds(999_999_999)),
    ]

    @Test(arguments: freshness)
    func theTimeToKeepKeysIsRead(value: String?, duration: Duration?) {
        let fields: HTTPFields = value.map { ["cache-control": $0] } ?? [:]
        #expect(ProviderDocuments.freshness(fields) == duration)
    }

    @Test(arguments: [
        "http://id.example", "https://", "id.example", "https://id.example/?a=b", "https://id.example/#a",
        "https://user@id.example", "http://127.0.0.1.example", "http://127.evil.0.1", "ftp://localhost",
    ])
    func anIssuerIsReachedSafely(text: String) {
        #expect(throws: OpenIDConnectError.badIssuer) { try OpenIDConnectSettings(issuer: text, audience: "m") }
    }

    @Test(arguments: [
        ("https://id.example", "/.well-known/openid-configuration"),
        ("https://id.example/", "/.well-known/openid-configuration"),
        ("https://id.example:8443/a/b/", "/a/b/.well-known/openid-configuration"),
        ("http://localhost:8080/realm", "/realm/.well-known/openid-configuration"),
        ("http://127.0.0.1:1", "/.well-known/openid-configuration"),
        ("http://[::1]:1", "/.well-known/openid-configuration"),
    ])
    func theConfigurationIsBelowTheIssuer(issuer: String, target: String) throws {
        #expect(ProviderURL(issuer)?.configuration.target == target)
        _ = try OpenIDConnectSettings(issuer: issuer, audience: "m")
    }
}

/// The provider's web server.
final class ProviderWeb: HTTPTransport {
    private struct State {
        var documents: [String: JSON] = [
            "/realm/.well-known/openid-configuration": [
                "issuer": .string(TokenMaker.issuer), "jwks_uri": "https://id.example/realm/keys",
            ]
        ]
        var failure: HTTPStatus?
        var asked: [String] = []
        var notes: [String] = []
        var addresses: [TransportSettings.Addresses] = []
        var isHeldBack = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var asked: [String] { state.withLock { $0.asked } }
    /// The addresses that each request was allowed to.
    var addresses: [TransportSettings.Addresses] { state.withLock { $0.addresses } }
    var notes: [String] { state.withLock { $0.notes } }

    func publish(_ keys: [JSON]) { answer("/realm/keys", with: ["keys": .array(keys)]) }
    func answer(_ path: String, with document: JSON) { state.withLock { $0.documents[path] = document } }
    func fail(_ status: HTTPStatus?) { state.withLock { $0.failure = status } }
    func record(_ sentence: String) { state.withLock { $0.notes.append(sentence) } }
    func holdBack() { state.withLock { $0.isHeldBack = true } }

    func letGo() {
        let waiting = state.withLock { state in
            state.isHeldBack = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns once a request is held back.
    func untilAsked() async {
        await withCheckedContinuation { watcher in
            let isThere = state.withLock { state in
                if state.waiting.isEmpty { state.watchers.append(watcher) }
                return !state.waiting.isEmpty
            }
            if isThere { watcher.resume() }
        }
    }

    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async {}

    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        state.withLock { $0.addresses.append(settings.addresses) }
        guard origin.host == "id.example" || origin.isLoopback else {
            throw TransportError(.unreachable, mayHaveBeenProcessed: false, "nobody is there")
        }
        await waitWhileHeldBack()
        return state.withLock { state in
            state.asked.append(request.target)
            if let failure = state.failure { return HTTPResponse(failure) }
            guard let document = state.documents[request.target] else { return HTTPResponse(.notFound) }
            return HTTPResponse(.ok, body: .bytes(document.bytes))
        }
    }

    private func waitWhileHeldBack() async {
        await withCheckedContinuation { continuation in
            let (isFree, watchers) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
                guard state.isHeldBack else { return (true, []) }
                state.waiting.append(continuation)
                defer { state.watchers = [] }
                return (false, state.watchers)
            }
            if isFree { continuation.resume() }
            for watcher in watchers { watcher.resume() }
        }
    }
}
