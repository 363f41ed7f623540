import MartletCrypto

/// Binds a sign-in at the identity provider to the browser that began it.
///
/// The browser has a random token in a cookie, and all other values are derived from the token. So the server stores
/// nothing before the provider has authenticated the person, and strangers cannot fill its memory. The provider, and
/// anybody who sees the addresses, learn `state`, `nonce` and `challenge`. Neither the token nor the verifier can be
/// computed from these three values.
struct ProviderTransaction: Sendable {
    /// The value of the cookie.
    let token: String
    /// The value that the provider sends back with the code. Only the browser that has the cookie can use the code (RFC
    /// 6749, section 10.12).
    let state: String
    /// The value that the provider puts in the ID token, which shows that the token belongs to this sign-in (OpenID
    /// Connect Core 1.0, section 3.1.2.1).
    let nonce: String
    /// The secret without which the provider does not exchange the code (RFC 7636).
    let verifier: String

    /// The lifetime of the cookie, in seconds.
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
