import MartletHTTP

/// The settings for an identity provider: its issuer, the audience that its tokens must have, and the claims that are
/// read (OpenID Connect Core 1.0, RFC 9068).
public struct OpenIDConnectSettings: Sendable {
    /// The issuer, which must equal the tokens' `iss` exactly.
    public let issuer: String
    /// The audience, which the `aud` of every token must contain.
    public let audience: String
    /// The claim that names the user.
    public let userClaim: String
    /// The claim that contains the user's roles; nil if tokens give no roles.
    public let rolesClaim: String?
    /// The source of the provider's keys: their URL, or the configuration document that contains this URL.
    let source: Source

    enum Source: Sendable {
        /// The provider's configuration document (OpenID Connect Discovery 1.0, section 4).
        case discovery(ProviderURL)
        case keys(ProviderURL)
    }

    /// The claim that most providers use for the name by which people know a user.
    public static let defaultUserClaim = "preferred_username"

    private static let lengthLimit = 1024

    /// - Parameters:
    ///   - issuer: An https URL without a query; http is accepted only for this machine.
    ///   - audience: The provider's name for this server.
    ///   - keys: The URL of the provider's keys, if they cannot be found through its configuration.
    ///   - userClaim: The name of a claim, or the path to a member of nested claims, such as `realm.user`.
    ///   - rolesClaim: The name or path of a claim whose value is a text with one role, or a list of roles.
    /// - Throws: `OpenIDConnectError` saying which value cannot be used.
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

/// The reason why the settings of an identity provider cannot be used.
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
