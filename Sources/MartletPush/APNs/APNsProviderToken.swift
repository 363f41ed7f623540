import MartletCrypto
import MartletModel

/// A provider token: a JSON web token signed with ES256, without an expiry claim (PushServices.md, section 1.2).
struct APNsProviderToken {
    /// How long after its time of issue the service accepts a token.
    static let lifetime: Duration = .seconds(3600)
    /// The minimum time that APNs requires between two new tokens on one connection.
    static let minimumAge: Duration = .seconds(1200)
    /// The age at which Martlet stops using a token: five minutes before the end of `lifetime`, because clocks differ.
    static let maximumAge: Duration = .seconds(3300)

    let keyID: String
    let teamID: String
    let issuedAt: Timestamp
    private let token: ES256Token

    /// Parses a token without verifying its signature. Fails if the text is not an ES256 token, or if its key id, its
    /// issuer, or its time of issue in whole seconds is missing.
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

    /// Returns whether the token was signed with the private key that belongs to this public key.
    func isSigned(by key: P256PublicKey) -> Bool {
        token.isSigned(by: key)
    }

    /// Returns a new signed token in compact form, with `now` as its time of issue.
    static func sign(
        keyID: String, teamID: String, at now: Timestamp, with key: P256PrivateKey
    ) throws(CryptoError) -> String {
        try ES256Token.sign(
            header: ["alg": "ES256", "kid": .string(keyID)],
            claims: ["iss": .string(teamID), "iat": .integer(now.seconds)], with: key)
    }
}
