/// Provides the bearer tokens for a client's requests if users log in at an identity provider (OpenID Connect).
///
/// ```swift
/// struct SignIn: TokenProvider {
///     func token(insteadOf refused: String?) async throws -> String? {
///         try await session.freshToken(forcingRefresh: refused != nil)
///     }
/// }
/// ```
public protocol TokenProvider: Sendable {
    /// Returns the user's current bearer token.
    ///
    /// Called for every request, so an implementation should cache its token until the token expires.
    /// - Parameter refused: A token that the server has just refused and that must not be returned again; nil if there
    ///   is none.
    /// - Returns: nil if the user has to log in.
    /// - Throws: Any error if no token can be obtained now, for example without a network. The request is then tried
    ///   again later.
    func token(insteadOf refused: String?) async throws -> String?
}
