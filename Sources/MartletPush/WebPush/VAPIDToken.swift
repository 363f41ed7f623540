import MartletCrypto
import MartletHTTP
import MartletModel

/// The proof of the sender's identity: a signed token for one push service (RFC 8292, section 2).
struct VAPIDToken {
    /// The maximum time from now to the expiry of a token.
    static let lifetimeLimit: Duration = .seconds(86_400)
    /// The time from now to the expiry of a new token. It is half of `lifetimeLimit`, so that a difference between the
    /// clocks of sender and service does no harm.
    static let lifetime: Duration = .seconds(43_200)
    /// The minimum time between two new tokens. Apple asks senders not to change tokens more often.
    static let minimumAge: Duration = .seconds(3600)
    /// The age at which Martlet stops using a token.
    static let maximumAge: Duration = .seconds(36_000)

    let audience: String
    let expiry: Timestamp
    let subject: String?
    private let token: ES256Token

    /// Parses a token without verifying its signature. Fails if the audience or the expiry is missing or malformed.
    init?(_ text: Substring) {
        guard let token = ES256Token(text), let audience = token.claims["aud"]?.string,
            let expiry = token.claims["exp"]?.integer, (0...Timestamp.distantFuture.seconds).contains(expiry)
        else { return nil }
        self.audience = audience
        self.expiry = Timestamp(seconds: expiry)
        subject = token.claims["sub"]?.string
        self.token = token
    }

    /// Returns whether the token was signed with the private key that belongs to this public key.
    func isSigned(by key: P256PublicKey) -> Bool {
        token.isSigned(by: key)
    }

    /// Returns a new signed token for one push service, which expires `lifetime` after `now`.
    static func sign(
        audience: HTTPOrigin, subject: String?, at now: Timestamp, with key: P256PrivateKey
    ) throws(CryptoError) -> String {
        var claims: [String: JSON] = [
            "aud": .string(audience.description), "exp": .integer((now + lifetime).seconds),
        ]
        claims["sub"] = subject.map(JSON.string)
        return try ES256Token.sign(header: ["alg": "ES256", "typ": "JWT"], claims: .object(claims), with: key)
    }

    /// Returns whether a text is a valid subject: an email or web address at which the sender can be contacted.
    static func isSubject(_ text: String) -> Bool {
        let allowed = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !#"<>""#.utf8.contains($0) }
        guard allowed, text.utf8.count <= 512 else { return false }
        if text.hasPrefix("mailto:") {
            let parts = text.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
            return parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty && parts[1] != "localhost"
        }
        guard let (origin, _) = HTTPOrigin.splitting(text), origin.scheme == .https else { return false }
        return origin.host != "localhost"
    }
}
