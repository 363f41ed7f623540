/// Gives the bearer tokens with which a client asks, where an identity provider logs users in (OpenID Connect).
///
/// ```swift
/// struct SignIn: TokenProvider {
///     func token(insteadOf refused: String?) async throws -> String? {
///         try await session.freshToken(forcingRefresh: refused != nil)
///     }
/// }
/// ```
public protocol TokenProvider: Sendable {
    /// The present token of the user.
    ///
    /// Called for every request, so it keeps the token that it has until that has expired.
    /// - Parameter refused: A token that the server has just refused, not to be given again; nil where there is none.
    /// - Returns: nil where the user has to log in.
    /// - Throws: Anything where it cannot tell now, such as without a network: the request is tried again later.
    func token(insteadOf refused: String?) async throws -> String?
}
