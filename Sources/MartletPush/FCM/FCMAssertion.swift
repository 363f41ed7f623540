import MartletCrypto
import MartletModel

/// The assertion that a service account presents to get an access token: a JSON web token signed with RS256 (RFC 7523;
/// PushServices.md, section 2.1).
struct FCMAssertion {
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// The maximum lifetime of an assertion, in seconds.
    static let lifetime: Int64 = 3600

    private let token: SignedToken

    var claims: JSON { token.claims }

    /// Parses an assertion without verifying its signature. Fails if the text is not a token, or if its header does
    /// not state RS256.
    init?(_ text: some StringProtocol) {
        guard let token = SignedToken(text, algorithm: "RS256") else { return nil }
        self.token = token
    }

    func isSigned(by key: RSAPublicKey) -> Bool {
        key.isValid(token.signature, for: token.signedBytes)
    }

    /// Returns a new signed assertion in compact form, which expires `lifetime` seconds after `now`.
    static func sign(
        issuer: String, audience: String, at now: Timestamp, with key: RSAPrivateKey
    ) throws(CryptoError) -> String {
        let header: JSON = ["alg": "RS256", "typ": "JWT"]
        let claims: JSON = [
            "iss": .string(issuer), "scope": .string(scope), "aud": .string(audience), "iat": .integer(now.seconds),
            "exp": .integer(now.seconds + lifetime),
        ]
        return try SignedToken.make(header: header, claims: claims) { bytes throws(CryptoError) in
            try key.signature(for: bytes)
        }
    }
}
