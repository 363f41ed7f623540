/// A code that a browser has brought from the provider, with what proves that it may be used (RFC 6749, section 4.1.3;
/// RFC 7636, section 4.5).
public struct CodeGrant: Sendable {
    let code: String
    let verifier: String
    let redirectURI: String

    /// - Parameters:
    ///   - verifier: The secret whose hash was in the authorization request.
    ///   - redirectURI: The URL that was in the authorization request.
    public init(code: String, verifier: String, redirectURI: String) {
        self.code = code
        self.verifier = verifier
        self.redirectURI = redirectURI
    }
}

/// How this server is known to the provider as a client. Its description does not contain the secret.
public struct ProviderClient: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    public let id: String
    let secret: String?

    /// - Parameter secret: The secret shared with the provider; nil for a client that has none.
    public init(id: String, secret: String?) {
        self.id = id
        self.secret = secret
    }

    public var description: String { "client \(id)" }
    public var debugDescription: String { description }
}

/// Why an identity provider could not say who somebody is.
public enum IdentityProviderError: Error, Sendable {
    /// The token is not accepted.
    case refused(TokenRefusal)
    /// The provider is away, or what it publishes is not as it should be.
    case unavailable(retryAfter: Int64)
    /// The provider does not accept the code: it was used, has expired, or was given to somebody else.
    case badCode
    /// The provider refuses the request for another reason than the code, or answers it without a token.
    case noToken
}
