import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletOpenIDConnect
import MartletTesting
import Synchronization

@testable import MartletConsole

/// A console with an identity provider, which is a transport that answers.
struct ProviderBench {
    let bench: ConsoleBench
    let web: ProviderWeb

    static let roles = "admin=ops, sender@shop=marketing, viewer=everybody"

    init(limitedTo attempts: Int = 100) async throws {
        let holder = ConsoleProvider(nil)
        bench = try await ConsoleBench(provider: holder, attempts: attempts)
        web = try ProviderWeb(time: bench.time)
        let settings = try OpenIDConnectSettings(
            issuer: TokenMaker.issuer, audience: TokenMaker.audience, rolesClaim: "groups")
        holder.use(
            ConsoleProvider.Settings(
                name: "Example", provider: IdentityProvider(settings, transport: web, time: bench.time) { _ in },
                client: ProviderClient(id: TokenMaker.audience, secret: "s:/"), scopes: "openid profile",
                roles: try ProviderRoles(Self.roles)))
        _ = try await bench.directory.invite("ops", RoleGrants([RoleGrant(.admin)]))
    }

    /// What a browser has after it was sent to the provider.
    struct Begun {
        var cookie: String
        var query: [String: String]
    }

    func begin(fresh: Bool = false, cookie: String? = nil) async throws -> Begun {
        let answer = await bench.send(
            .post, "/console/api/sign-in/provider", cookie: cookie, body: ["fresh": .bool(fresh)])
        let location = answer.json?["location"]?.string ?? ""
        let items = HTTPTarget("/" + location.drop { $0 != "?" })?.query ?? []
        return Begun(
            cookie: Self.cookie(in: answer, at: 0),
            query: Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first }))
    }

    static func cookie(in answer: HTTPResponse, at index: Int) -> String {
        let fields = answer.fields.values(of: "set-cookie")
        return index < fields.count ? String(fields[index].prefix { $0 != ";" }) : ""
    }

    func finish(
        _ begun: Begun, code: JSON = "code", state: String? = nil, iss: JSON? = nil, cookie: String? = nil
    ) async -> HTTPResponse {
        var body: [String: JSON] = ["state": .string(state ?? begun.query["state"] ?? ""), "code": code]
        body["iss"] = iss
        let cookies = [begun.cookie, cookie].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "; ")
        return await bench.send(
            .post, "/console/api/sign-in/provider/finish", cookie: cookies, body: .object(body))
    }

    /// Signs a person in from the beginning.
    func signIn(
        _ changes: [String: JSON] = [:], fresh: Bool = false, cookie: String? = nil
    ) async throws -> HTTPResponse {
        let begun = try await begin(fresh: fresh, cookie: cookie)
        web.person(begun.query["nonce"] ?? "", changes)
        return await finish(begun, cookie: cookie)
    }

    /// The actions of the audit log with their answers, oldest first.
    func audit() async throws -> [String] {
        try await bench.storage.actions(OperatorActionQuery(limit: 100)).reversed().map {
            "\($0.1.operatorName): \($0.1.action) \($0.1.answer ?? 0)"
        }
    }
}

/// A provider's web server.
final class ProviderWeb: HTTPTransport {
    private struct State {
        var claims: [String: JSON] = [:]
        var failures: [String: HTTPResponse] = [:]
        var asked: [HTTPRequest] = []
        var addresses: [TransportSettings.Addresses] = []
        var changes: [String: JSON] = [:]
    }

    private let state = Mutex(State())
    private let maker: TokenMaker
    private let time: ManualTimeSource

    init(time: ManualTimeSource) throws {
        maker = try TokenMaker()
        self.time = time
    }

    /// The next token is this person's.
    func person(_ nonce: String, _ changes: [String: JSON]) {
        var claims = TokenMaker.claims(at: time.now)
        claims["sub"] = "s1"
        claims["nonce"] = .string(nonce)
        claims["groups"] = ["ops"]
        claims["auth_time"] = .integer(time.now.seconds)
        for (name, value) in changes { claims[name] = value == .null ? nil : value }
        state.withLock { $0.claims = claims }
    }

    func fail(_ path: String, _ response: HTTPResponse) { state.withLock { $0.failures[path] = response } }
    func configure(_ changes: [String: JSON]) { state.withLock { $0.changes = changes } }
    var asked: [HTTPRequest] { state.withLock(\.asked) }
    var addresses: [TransportSettings.Addresses] { state.withLock(\.addresses) }

    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async {}

    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        let state = state.withLock { state in
            state.asked.append(request)
            state.addresses.append(settings.addresses)
            return state
        }
        if let failure = state.failures[request.target] { return failure }
        switch request.target {
        case "/realm/.well-known/openid-configuration":
            let document: [String: JSON] = [
                "issuer": .string(TokenMaker.issuer), "jwks_uri": "https://id.example/realm/keys",
                "authorization_endpoint": "https://id.example/realm/auth",
                "token_endpoint": "https://id.example/realm/token",
            ]
            return HTTPResponse(.ok, body: .bytes(JSON.object(document.merging(state.changes) { $1 }).bytes))
        case "/realm/keys": return HTTPResponse(.ok, body: .bytes((["keys": [maker.jwk]] as JSON).bytes))
        default:
            let token = (try? maker.token(state.claims)) ?? ""
            return HTTPResponse(.ok, body: .bytes((["id_token": .string(token)] as JSON).bytes))
        }
    }
}
