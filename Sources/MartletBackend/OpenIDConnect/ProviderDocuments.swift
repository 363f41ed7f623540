import MartletHTTP
import MartletModel

/// Fetches the documents that an identity provider publishes over HTTP.
struct ProviderDocuments: Sendable {
    let settings: OpenIDConnectSettings
    let transport: any HTTPTransport

    /// The reason, for the log, why the keys could not be fetched.
    struct Failure: Error, Sendable {
        let sentence: String
    }

    private static let lengthLimit = 262_144
    private static let depthLimit = 16
    private static let timeout: Duration = .seconds(10)

    /// Fetches the usable keys, at least one, and the time for which they may be cached if the provider states it.
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
            let response = try await get(url, at: .any)
            guard let document = try? JSON(parsing: response.bytes, maximumDepth: Self.depthLimit) else {
                throw Failure(sentence: "Its configuration is no JSON.")
            }
            guard document["issuer"] == .string(settings.issuer) else {
                throw Failure(sentence: "Its configuration is that of another issuer; --oidc-issuer must equal it.")
            }
            guard let keys = document["jwks_uri"]?.string.flatMap(ProviderURL.init) else {
                throw Failure(sentence: "Its configuration says no https URL of its keys.")
            }
            return (keys, try Self.addresses(for: keys.origin, namedBy: url.origin))
        }
    }

    /// Returns the addresses that the host of the keys may have.
    ///
    /// A provider on this machine has its keys on this machine. Any other provider must not direct requests to this
    /// machine or into the operator's network, except to its own origin.
    private static func addresses(
        for keys: HTTPOrigin, namedBy issuer: HTTPOrigin
    ) throws(Failure) -> TransportSettings.Addresses {
        guard !issuer.isLoopback else { return .loopbackOnly }
        guard !keys.isLoopback else {
            throw Failure(
                sentence: "Its configuration says that its keys are on this machine, where it is not itself; "
                    + "--oidc-jwks names the URL of its keys.")
        }
        return .allowed(for: keys, namedBy: issuer)
    }

    private func get(
        _ url: ProviderURL, at addresses: TransportSettings.Addresses
    ) async throws(Failure) -> HTTPResponse {
        var request = HTTPRequest(
            .get, url.target, authority: url.origin.authority, fields: ["accept": "application/json"])
        request.answerLimit = Self.lengthLimit
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(
                request, to: url.origin, settings: TransportSettings(connectionLimit: 1, addresses: addresses),
                before: .now + Self.timeout)
        } catch {
            throw Failure(sentence: "It cannot be reached: \(error.detail).")
        }
        guard response.status == .ok else {
            throw Failure(
                sentence: "It answered \(response.status.code) where its keys or its configuration should be.")
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
