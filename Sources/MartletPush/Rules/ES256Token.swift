import MartletCrypto
import MartletModel

/// A JSON web token signed with ES256 (RFC 7515 and RFC 7518, section 3.4).
struct ES256Token {
    private let token: SignedToken

    var header: JSON { token.header }
    var claims: JSON { token.claims }

    /// Parses a token without verifying its signature. Fails if the text is not a token, or if the header states an
    /// algorithm other than ES256.
    init?(_ text: some StringProtocol) {
        guard let token = SignedToken(text, algorithm: "ES256") else { return nil }
        self.token = token
    }

    /// Returns whether the token was signed with the private key that belongs to this public key.
    func isSigned(by key: P256PublicKey) -> Bool {
        key.isValid(token.signature, for: token.signedBytes)
    }

    /// Returns a new signed token in compact form (RFC 7515, section 3.1).
    static func sign(header: JSON, claims: JSON, with key: P256PrivateKey) throws(CryptoError) -> String {
        try SignedToken.make(header: header, claims: claims) { bytes throws(CryptoError) in
            try key.signature(for: bytes)
        }
    }
}
