import MartletCrypto
import MartletModel

/// A provider token: a JSON web token signed with ES256, without an expiry of its own (push services document,
/// section 1.2).
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
    private let signedBytes: [UInt8]
    private let signature: [UInt8]

    /// Reads a token without judging its signature; nil for anything but an ES256 token with a key id, an issuer and a
    /// time in whole seconds.
    init?(_ text: Substring) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2]), header["alg"]?.string == "ES256",
            let keyID = header["kid"]?.string, let teamID = claims["iss"]?.string,
            let issuedAt = claims["iat"]?.integer, (0...Timestamp.distantFuture.seconds).contains(issuedAt)
        else { return nil }
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = Timestamp(seconds: issuedAt)
        self.signature = signature
        signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
    }

    /// Whether the owner of the key signed the token.
    func isSigned(by key: P256PublicKey) -> Bool {
        key.isValid(signature, for: signedBytes)
    }

    /// Makes and signs a token.
    static func sign(
        keyID: String, teamID: String, at now: Timestamp, with key: P256PrivateKey
    ) throws(CryptoError) -> String {
        let header: JSON = ["alg": "ES256", "kid": .string(keyID)]
        let claims: JSON = ["iss": .string(teamID), "iat": .integer(now.seconds)]
        let signed = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
        return "\(signed).\(Base64URL.encode(try key.signature(for: Array(signed.utf8))))"
    }

    private static func object(_ part: Substring) -> JSON? {
        Base64URL.decode(part).flatMap { try? JSON(parsing: $0, maximumDepth: 4) }
    }
}
