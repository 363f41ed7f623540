import MartletCrypto
import MartletModel

/// A provider token: a JSON web token signed with ES256, without an expiry of its own (PushServices.md, section 1.2).
struct APNsProviderToken {
    /// How long the service accepts a token after its time of issue.
    static let lifetime: Duration = .seconds(3600)
    /// The least time between two tokens on one connection.
    static let minimumAge: Duration = .seconds(1200)
    /// When a token is replaced at the latest: five minutes are left for clocks that differ.
    static let maximumAge: Duration = .seconds(3300)

    let keyID: String
    let teamID: String
    let issuedAt: Timestamp
    private let token: ES256Token

    /// Reads a token without judging its signature; nil for anything but an ES256 token with a key id, an issuer and a
    /// time in whole seconds.
    init?(_ text: Substring) {
        guard let token = ES256Token(text), let keyID = token.header["kid"]?.string,
            let teamID = token.claims["iss"]?.string, let issuedAt = token.claims["iat"]?.integer,
            (0...Timestamp.distantFuture.seconds).contains(issuedAt)
        else { return nil }
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = Timestamp(seconds: issuedAt)
        self.token = token
    }

    /// Whether the owner of the key signed the token.
    func isSigned(by key: P256PublicKey) -> Bool {
        token.isSigned(by: key)
    }

    /// Makes and signs a token.
    static func sign(
        keyID: String, teamID: String, at now: Timestamp, with key: P256PrivateKey
    ) throws(CryptoError) -> String {
        try ES256Token.sign(
            header: ["alg": "ES256", "kid": .string(keyID)],
            claims: ["iss": .string(teamID), "iat": .integer(now.seconds)], with: key)
    }
}
