import MartletCrypto
import MartletModel

/// A JSON web token signed with ES256 (RFC 7515 and RFC 7518, section 3.4).
struct ES256Token {
    private let token: SignedToken

    var header: JSON { token.header }
    var claims: JSON { token.claims }

    /// Reads a token without judging its signature; nil for anything but one that says it is signed with ES256.
    init?(_ text: some StringProtocol) {
        guard let token = SignedToken(text, algorithm: "ES256") else { return nil }
        self.token = token
    }

    /// Whether the owner of the key signed the token.
    func isSigned(by key: P256PublicKey) -> Bool {
        key.isValid(token.signature, for: token.signedBytes)
    }

    /// Makes and signs a token.
    static func sign(header: JSON, claims: JSON, with key: P256PrivateKey) throws(CryptoError) -> String {
        try SignedToken.make(header: header, claims: claims) { bytes throws(CryptoError) in
            try key.signature(for: bytes)
        }
    }
}
