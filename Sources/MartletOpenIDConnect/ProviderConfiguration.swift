import MartletHTTP
import MartletModel

/// The parts of an identity provider's configuration document that signing in needs (OpenID Connect Discovery 1.0,
/// section 3).
public struct ProviderConfiguration: Sendable {
    /// The page to which browsers are sent to sign in.
    let authorizationEndpoint: ProviderURL
    /// The URL at which a code is exchanged for tokens, and the addresses that its host may have.
    let tokenEndpoint: ProviderURL
    let tokenAddresses: TransportSettings.Addresses
    /// Whether the client's secret is sent in the body, because the provider does not accept it in `Authorization`.
    let takesSecretInBody: Bool
    /// Whether the provider names itself in every answer to an authorization request (RFC 9207).
    public let namesIssuer: Bool

    /// Returns the URL to which a browser is sent with the parameters of an authorization request.
    public func authorizationURL(_ parameters: [(name: String, value: String)]) -> String {
        let url = authorizationEndpoint
        let separator = url.target.contains("?") ? "&" : "?"
        return "\(url.origin)\(url.target)\(separator)\(FormText.encode(parameters))"
    }
}

/// Text in the form `application/x-www-form-urlencoded`.
enum FormText {
    static func encode(_ parameters: [(name: String, value: String)]) -> String {
        parameters.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
            .joined(separator: "&")
    }
}
