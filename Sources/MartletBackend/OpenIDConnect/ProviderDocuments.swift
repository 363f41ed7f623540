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
        let response = try await get(try await keysURL())
        guard let keys = JSONWebKey.keys(ofSet: response.bytes) else {
            throw Failure(sentence: "Its keys are no set of JSON Web Keys.")
        }
        guard !keys.isEmpty else {
            throw Failure(
                sentence: "None of its keys can be used: RSA of 2,048 bits or more, or P-256, for signatures.")
        }
        return (keys, Self.freshness(response.fields))
    }

    private func keysURL() async throws(Failure) -> ProviderURL {
        switch settings.source {
        case .keys(let url): return url
        case .discovery(let url):
            let response = try await get(url)
            guard let document = try? JSON(parsing: response.bytes, maximumDepth: Self.depthLimit) else {
                throw Failure(sentence: "Its configuration is no JSON.")
            }
            guard document["issuer"] == .string(settings.issuer) else {
                throw Failure(sentence: "Its configuration is that of another issuer; --oidc-issuer must equal it.")
            }
            guard let keys = document["jwks_uri"]?.string.flatMap(ProviderURL.init) else {
                throw Failure(sentence: "Its configuration says no https URL of its keys.")
            }
            return keys
        }
    }

    private func get(_ url: ProviderURL) async throws(Failure) -> HTTPResponse {
        var request = HTTPRequest(
            .get, url.target, authority: url.origin.authority, fields: ["accept": "application/json"])
        request.answerLimit = Self.lengthLimit
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(
                request, to: url.origin, settings: TransportSettings(connectionLimit: 1),
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

    /// Returns the value of `max-age` in `Cache-Control` (RFC 9111, section 5.2.2).
    static func freshness(_ fields: HTTPFields) -> Duration? {
        let directives = fields.values(of: "cache-control").joined(separator: ",").lowercased()
            .split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" } }
        if directives.contains(where: { $0 == "no-store" || $0 == "no-cache" }) { return .zero }
        let age = directives.first { $0.hasPrefix("max-age=") }.map { $0.dropFirst(8) }
        guard let age, age.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !age.isEmpty else { return nil }
        return .seconds(age.utf8.count > 9 ? 999_999_999 : Int64(age) ?? 0)
    }
}
