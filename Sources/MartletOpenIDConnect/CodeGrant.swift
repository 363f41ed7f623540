/// An authorization code that a browser has brought from the provider, with the verifier and the redirect URI that must
/// accompany it (RFC 6749, section 4.1.3; RFC 7636, section 4.5).
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

/// The id and the secret with which this server is registered at the provider as a client. The description does not
/// contain the secret.
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

/// The reason why a token or a code of the identity provider does not identify a user.
public enum IdentityProviderError: Error, Sendable {
    /// The token is not accepted.
    case refused(TokenRefusal)
    /// The provider does not answer, or its documents are not valid.
    /// - Parameter retryAfter: The time after which to try again, in seconds.
    case unavailable(retryAfter: Int64)
    /// The provider does not accept the code: it was used before, has expired, or was issued to another client.
    case badCode
    /// The provider refuses the request for another reason than the code, or its answer contains no token.
    case noToken
}
