import MartletCrypto

/// What binds a sign-in at the identity provider to the browser that began it.
///
/// The browser has a random token in a cookie, and everything else is derived from it: the server stores nothing until
/// the provider has said who somebody is, so there is nothing that strangers could fill. The provider, and a person who
/// sees the addresses, learn `state`, `nonce` and `challenge`, from which neither the token nor the verifier can be
/// computed.
struct ProviderTransaction: Sendable {
    /// The value of the cookie.
    let token: String
    /// Comes back with the code. Only the browser that has the cookie can use it (RFC 6749, section 10.12).
    let state: String
    /// Comes back in the ID token, which therefore belongs to this sign-in (OpenID Connect Core 1.0, section 3.1.2.1).
    let nonce: String
    /// The secret without which the provider does not exchange the code (RFC 7636).
    let verifier: String

    /// How long the cookie lives, in seconds.
    static let lifetime: Int64 = 900

    init(token: String) throws(CryptoError) {
        self.token = token
        state = try Self.derived("state", from: token)
        nonce = try Self.derived("nonce", from: token)
        verifier = try Self.derived("verifier", from: token)
    }

    /// The hash of the verifier, by the method `S256`.
    var challenge: String { Base64URL.encode(SHA256.hash(Array(verifier.utf8))) }

    private static func derived(_ purpose: String, from token: String) throws(CryptoError) -> String {
        Base64URL.encode(
            try HMACSHA256.authenticationCode(for: Array("martlet sign-in \(purpose)".utf8), key: Array(token.utf8)))
    }
}
