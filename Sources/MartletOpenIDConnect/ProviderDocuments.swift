import MartletCrypto
import MartletHTTP
import MartletModel

/// Makes the requests to an identity provider: for the documents that it publishes, and for tokens.
struct ProviderDocuments: Sendable {
    let settings: OpenIDConnectSettings
    let transport: any HTTPTransport

    /// The reason why the provider's answer cannot be used, for the log.
    struct Failure: Error, Sendable {
        let sentence: String
        /// True if the provider has refused the request; false if it does not answer, is busy, or its answer is not
        /// valid.
        var isRefusal = false
    }

    private static let lengthLimit = 262_144
    private static let depthLimit = 16
    private static let timeout: Duration = .seconds(10)

    // MARK: Keys

    /// Fetches the provider's usable keys.
    /// - Returns: At least one key, and how long the keys may be cached; nil if the provider does not state a time.
    func keys() async throws(Failure) -> (keys: [JSONWebKey], freshness: Duration?) {
        let (url, addresses) = try await keysURL()
        let response = try await get(url, at: addresses)
        guard let keys = JSONWebKey.keys(ofSet: response.bytes) else {
            throw Failure(sentence: "Its keys are no set of JSON Web Keys.")
        }
        guard !keys.isEmpty else {
            throw Failure(
                sentence: "None of its keys can be used: RSA of 2,048 bits or more, or P-256, for signatures.")
        }
        return (keys, Self.freshness(response.fields))
    }

    /// Returns the URL of the keys, and the addresses that its host may have.
    private func keysURL() async throws(Failure) -> (ProviderURL, TransportSettings.Addresses) {
        switch settings.source {
        case .keys(let url): return (url, .any)
        case .discovery(let url):
            let document = try await document(at: url)
            guard let keys = document["jwks_uri"]?.string.flatMap(ProviderURL.init) else {
                throw Failure(sentence: "Its configuration says no https URL of its keys.")
            }
            return (keys, try Self.addresses(for: keys.origin, of: "keys are", namedBy: url.origin))
        }
    }

    // MARK: Configuration

    /// Fetches the provider's configuration document.
    func configuration() async throws(Failure) -> ProviderConfiguration {
        guard case .discovery(let url) = settings.source else {
            throw Failure(sentence: "Its configuration is needed for signing in, not its keys alone.")
        }
        let document = try await document(at: url)
        guard let authorization = document["authorization_endpoint"]?.string.flatMap(ProviderURL.init),
            let token = document["token_endpoint"]?.string.flatMap(ProviderURL.init)
        else { throw Failure(sentence: "Its configuration says no https URLs for signing in.") }
        let methods = document["token_endpoint_auth_methods_supported"]?.array
        return ProviderConfiguration(
            authorizationEndpoint: authorization, tokenEndpoint: token,
            tokenAddresses: try Self.addresses(for: token.origin, of: "tokens are", namedBy: url.origin),
            takesSecretInBody: methods.map {
                !$0.contains("client_secret_basic") && $0.contains("client_secret_post")
            } ?? false,
            namesIssuer: document["authorization_response_iss_parameter_supported"]?.bool ?? false)
    }

    private func document(at url: ProviderURL) async throws(Failure) -> JSON {
        let response = try await get(url, at: .any)
        guard let document = try? JSON(parsing: response.bytes, maximumDepth: Self.depthLimit) else {
            throw Failure(sentence: "Its configuration is no JSON.")
        }
        guard document["issuer"] == .string(settings.issuer) else {
            throw Failure(
                sentence: "Its configuration is that of another issuer; the issuer of the options must equal it.")
        }
        return document
    }

    /// Returns the addresses that a host named in the provider's configuration may have.
    ///
    /// If the provider is on this machine, every host that it names must be on this machine too. Any other provider
    /// must not direct requests to this machine or into the operator's network, except to its own origin.
    /// - Parameter what: The subject and verb of the error's sentence: "keys are" or "tokens are".
    private static func addresses(
        for origin: HTTPOrigin, of what: String, namedBy issuer: HTTPOrigin
    ) throws(Failure) -> TransportSettings.Addresses {
        guard !issuer.isLoopback else { return .loopbackOnly }
        guard !origin.isLoopback else {
            throw Failure(
                sentence: "Its configuration says that its \(what) on this machine, where it is not itself."
                    + (what.hasPrefix("keys") ? " --oidc-jwks names the URL of its keys." : ""))
        }
        return .allowed(for: origin, namedBy: issuer)
    }

    // MARK: Tokens

    /// Exchanges a code for an ID token (OpenID Connect Core 1.0, section 3.1.3).
    /// - Returns: The token; nil if the provider does not accept the code.
    func idToken(
        for grant: CodeGrant, client: ProviderClient, _ configuration: ProviderConfiguration
    ) async throws(Failure) -> String? {
        let url = configuration.tokenEndpoint
        var form = [
            (name: "grant_type", value: "authorization_code"), (name: "code", value: grant.code),
            (name: "redirect_uri", value: grant.redirectURI), (name: "code_verifier", value: grant.verifier),
        ]
        var request = HTTPRequest(
            .post, url.target, authority: url.origin.authority,
            fields: ["accept": "application/json", "content-type": "application/x-www-form-urlencoded"])
        if let secret = client.secret, !configuration.takesSecretInBody {
            // The id and the secret are form-encoded before they are joined (RFC 6749, section 2.3.1).
            let pair = "\(PercentEncoding.encode(client.id)):\(PercentEncoding.encode(secret))"
            request.fields.append(
                HTTPField("authorization", "Basic \(Base64.encode(Array(pair.utf8)))", indexing: .never))
        } else {
            form.append(("client_id", client.id))
            if let secret = client.secret { form.append(("client_secret", secret)) }
        }
        request.body = Array(FormText.encode(form).utf8)
        request.answerLimit = Self.lengthLimit
        let response = try await send(request, to: url.origin, at: configuration.tokenAddresses, connections: 4)
        let answer = try? JSON(parsing: response.bytes, maximumDepth: Self.depthLimit)
        guard response.status == .ok else { return try Self.refused(response.status, answer) }
        guard let token = answer?["id_token"]?.string else {
            throw Failure(sentence: "It answered a code without an ID token.", isRefusal: true)
        }
        return token
    }

    /// Reads the provider's refusal to issue a token.
    /// - Returns: nil if the provider does not accept the code.
    /// - Throws: `Failure` for every other refusal, for example if the provider does not accept this server as a
    ///   client.
    private static func refused(_ status: HTTPStatus, _ answer: JSON?) throws(Failure) -> String? {
        switch answer?["error"]?.string {
        case "invalid_grant": return nil
        case "invalid_client", "unauthorized_client":
            throw Failure(
                sentence: "It does not accept this server as a client: check the client's id and secret.",
                isRefusal: true)
        default:
            throw Failure(
                sentence: "It answered \(status.code) where a token should be.",
                isRefusal: (400..<500).contains(status.code) && status != .tooManyRequests)
        }
    }

    // MARK: Requests

    private func get(
        _ url: ProviderURL, at addresses: TransportSettings.Addresses
    ) async throws(Failure) -> HTTPResponse {
        var request = HTTPRequest(
            .get, url.target, authority: url.origin.authority, fields: ["accept": "application/json"])
        request.answerLimit = Self.lengthLimit
        let response = try await send(request, to: url.origin, at: addresses, connections: 1)
        guard response.status == .ok else {
            throw Failure(
                sentence: "It answered \(response.status.code) where its keys or its configuration should be.")
        }
        return response
    }

    private func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, at addresses: TransportSettings.Addresses, connections: Int
    ) async throws(Failure) -> HTTPResponse {
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(
                request, to: origin, settings: TransportSettings(connectionLimit: connections, addresses: addresses),
                before: .now + Self.timeout)
        } catch {
            throw Failure(sentence: "It cannot be reached: \(error.detail).")
        }
        guard response.bytes.count <= Self.lengthLimit else { throw Failure(sentence: "Its answer is too long.") }
        return response
    }

    /// Returns how long an answer may be cached according to `Cache-Control` (RFC 9111, section 5.2.2): `max-age`, or
    /// zero for `no-store` and `no-cache`; nil if the field states neither.
    static func freshness(_ fields: HTTPFields) -> Duration? {
        let directives = fields.values(of: "cache-control").joined(separator: ",").lowercased()
            .split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" } }
        if directives.contains(where: { $0 == "no-store" || $0 == "no-cache" }) { return .zero }
        let age = directives.first { $0.hasPrefix("max-age=") }.map { $0.dropFirst(8) }
        guard let age, age.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !age.isEmpty else { return nil }
        return .seconds(age.utf8.count > 9 ? 999_999_999 : Int64(age) ?? 0)
    }
}
