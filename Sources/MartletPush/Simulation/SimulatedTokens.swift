import MartletCrypto
import MartletHTTP
import MartletModel

/// The token endpoint of a simulated service.
///
/// It stores the registered clients, and the access tokens that it has issued to them (RFC 6749, sections 4.4 and 5).
struct SimulatedTokens: Sendable {
    /// The result of checking a token.
    enum Judgement: Equatable {
        case unknown
        case expired
        /// The token is valid. The value is the client that it was issued to.
        case valid(String)
    }

    private struct Grant {
        let client: String
        let expiresAt: Timestamp
    }

    private static let grantLimit = 10_000

    /// Whether clients that are not registered get tokens without a check of their secret.
    let acceptsAnyClient: Bool
    /// The lifetime of an access token.
    let lifetime: Duration
    /// The text with which every access token begins.
    let prefix: String
    private var secrets: [String: String] = [:]
    private var grants: [String: Grant] = [:]

    init(acceptsAnyClient: Bool, lifetime: Duration, prefix: String) {
        self.acceptsAnyClient = acceptsAnyClient
        self.lifetime = lifetime
        self.prefix = prefix
    }

    /// Returns whether a client may get tokens. It may if it is registered, or if every client is accepted.
    func knows(_ client: String) -> Bool { acceptsAnyClient || secrets[client] != nil }

    mutating func register(_ client: String, secret: String) {
        secrets[client] = secret
    }

    /// Answers a request for a token.
    /// - Parameters:
    ///   - scope: The scope for which tokens are issued. A request that does not name it is refused.
    ///   - fault: The fault to answer with if the request would be granted.
    ///   - isTextual: Whether the lifetime is written as text.
    mutating func answer(
        _ request: HTTPRequest, scope: String, fault: ServiceFault? = nil, isTextual: Bool = false, at now: Timestamp
    ) -> HTTPResponse {
        guard request.method == .post else { return HTTPResponse(.methodNotAllowed) }
        guard let form = HTTPTarget("/?" + String(decoding: request.body, as: UTF8.self)),
            form.item("grant_type")?.value == "client_credentials"
        else { return Self.refusal("invalid_request") }
        guard let client = form.item("client_id")?.value, let secret = form.item("client_secret")?.value,
            knows(client), secrets[client].map({ $0 == secret }) ?? true
        else { return Self.refusal("invalid_client") }
        guard let scopes = form.item("scope")?.value?.split(separator: " "), scopes.contains(scope[...]) else {
            return Self.refusal("invalid_scope")
        }
        var isTextual = isTextual
        switch fault?.name {
        case nil: break
        case .textualLifetime: isTextual = true
        case .tokenRefused: return Self.refusal("invalid_client")
        case .malformedToken:
            return HTTPResponse(
                .ok, fields: ["content-type": "text/html"], body: .bytes(Array("<title>Sign in</title>".utf8)))
        default:
            var response = HTTPResponse(fault?.name == .internalError ? .internalServerError : .serviceUnavailable)
            response.fields["retry-after"] = fault?.retryAfter?.value(at: now)
            return response
        }
        return grant(client, scope: scope, isTextual: isTextual, at: now)
    }

    /// Returns whether an access token is valid, and for which client.
    func judge(_ token: some StringProtocol, at now: Timestamp) -> Judgement {
        guard let grant = grants[String(token)] else { return .unknown }
        return grant.expiresAt > now ? .valid(grant.client) : .expired
    }

    /// Returns the token in the field `authorization`; nil if there is none.
    static func bearer(_ fields: HTTPFields) -> Substring? {
        guard let field = fields["authorization"], field.lowercased().hasPrefix("bearer ") else { return nil }
        return field.dropFirst("bearer ".count)
    }

    private mutating func grant(_ client: String, scope: String, isTextual: Bool, at now: Timestamp) -> HTTPResponse {
        if grants.count >= Self.grantLimit { grants = grants.filter { $0.value.expiresAt > now } }
        if grants.count >= Self.grantLimit { grants = [:] }
        let token = prefix + Base64URL.encode(RandomBytes.generate(48))
        grants[token] = Grant(client: client, expiresAt: now + lifetime)
        let seconds = lifetime.components.seconds
        return Self.response(
            .ok,
            [
                "access_token": .string(token), "token_type": "bearer", "scope": .string(scope),
                "expires_in": isTextual ? .string(String(seconds)) : .integer(seconds),
            ])
    }

    private static func refusal(_ word: String) -> HTTPResponse {
        response(.badRequest, ["error": .string(word), "error_description": "The request is not granted."])
    }

    private static func response(_ status: HTTPStatus, _ body: JSON) -> HTTPResponse {
        HTTPResponse(
            status, fields: ["content-type": "application/json", "cache-control": "no-store"],
            body: .bytes(body.bytes))
    }
}
