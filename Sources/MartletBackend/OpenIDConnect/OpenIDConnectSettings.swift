import MartletHTTP

/// Whose tokens the app backend accepts besides its own sessions (OpenID Connect Core 1.0, RFC 9068).
public struct OpenIDConnectSettings: Sendable {
    /// Must equal the tokens' `iss` exactly.
    public let issuer: String
    /// Must be among the tokens' `aud`.
    public let audience: String
    /// The claim that names the user.
    public let userClaim: String
    /// The claim that has the user's roles; nil for no roles.
    public let rolesClaim: String?
    /// Where the provider's keys are, or a document that says it.
    let source: Source

    enum Source: Sendable {
        /// The provider's configuration (OpenID Connect Discovery 1.0, section 4).
        case discovery(ProviderURL)
        case keys(ProviderURL)
    }

    /// The claim by which people know each other at most providers.
    public static let defaultUserClaim = "preferred_username"

    private static let lengthLimit = 1024

    /// - Parameters:
    ///   - issuer: An https URL without query; http only where it is this machine.
    ///   - audience: What the provider calls this server.
    ///   - keys: The URL of the provider's keys, where they are not to be found by its configuration.
    ///   - userClaim: A claim's name, or the way to a member of claims within each other: `realm.user`.
    ///   - rolesClaim: Likewise; of a text with one role, or of a list of them.
    /// - Throws: `OpenIDConnectError` saying what cannot be used.
    public init(
        issuer: String, audience: String, keys: String? = nil, userClaim: String = defaultUserClaim,
        rolesClaim: String? = nil
    ) throws(OpenIDConnectError) {
        guard let url = ProviderURL(issuer), !issuer.utf8.contains(UInt8(ascii: "?")) else { throw .badIssuer }
        guard !audience.isEmpty, audience.utf8.count <= Self.lengthLimit else { throw .badAudience }
        guard !userClaim.isEmpty, rolesClaim != "" else { throw .badClaim }
        self.issuer = issuer
        self.audience = audience
        self.userClaim = userClaim
        self.rolesClaim = rolesClaim
        if let keys {
            guard let keys = ProviderURL(keys) else { throw .badKeys }
            source = .keys(keys)
        } else {
            source = .discovery(url.configuration)
        }
    }
}

/// Why an identity provider cannot be used as it is given.
public enum OpenIDConnectError: Error, Hashable, Sendable, CustomStringConvertible {
    case badIssuer
    case badKeys
    case badAudience
    case badClaim

    public var description: String {
        switch self {
        case .badIssuer:
            "The issuer must be an https URL without query, exactly as the provider writes it in its tokens; http is "
                + "for a provider on this machine alone."
        case .badKeys: "The provider's keys must be at an https URL; http is for a provider on this machine alone."
        case .badAudience: "The audience is what the provider calls this server; it must not be empty."
        case .badClaim: "The name of a claim must not be empty."
        }
    }
}
