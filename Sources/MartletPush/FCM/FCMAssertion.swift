import MartletCrypto
import MartletModel

/// What a service account shows for an access token: a JSON web token signed with RS256 (RFC 7523; PushServices.md,
/// section 2.1).
struct FCMAssertion {
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// How long it is good for at most, in seconds.
    static let lifetime: Int64 = 3600

    let claims: JSON
    private let signedBytes: [UInt8]
    private let signature: [UInt8]

    /// Reads an assertion without judging its signature; nil for anything but a token that says it is signed with RS256.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2]), header["alg"]?.string == "RS256"
        else { return nil }
        self.claims = claims
        self.signature = signature
        signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
    }

    func isSigned(by key: RSAPublicKey) -> Bool {
        key.isValid(signature, for: signedBytes)
    }

    /// Makes and signs an assertion.
    static func sign(
        issuer: String, audience: String, at now: Timestamp, with key: RSAPrivateKey
    ) throws(CryptoError) -> String {
        let header: JSON = ["alg": "RS256", "typ": "JWT"]
        let claims: JSON = [
            "iss": .string(issuer), "scope": .string(scope), "aud": .string(audience), "iat": .integer(now.seconds),
            "exp": .integer(now.seconds + lifetime),
        ]
        let signed = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
        return "\(signed).\(Base64URL.encode(try key.signature(for: Array(signed.utf8))))"
    }

    private static func object(_ part: some StringProtocol) -> JSON? {
        Base64URL.decode(part).flatMap { try? JSON(parsing: $0, maximumDepth: 4) }
    }
}
