import MartletCrypto
import MartletHTTP
import MartletModel

/// The proof of who sends: a signed token for one push service (RFC 8292, section 2).
struct VAPIDToken {
    /// How far ahead the end of a token may be.
    static let lifetimeLimit: Duration = .seconds(86_400)
    /// How far ahead it is set: half of the limit, so that clocks may differ.
    static let lifetime: Duration = .seconds(43_200)
    /// One service asks not to be sent a new token more often than this.
    static let minimumAge: Duration = .seconds(3600)
    /// When a token is replaced at the latest.
    static let maximumAge: Duration = .seconds(36_000)

    let audience: String
    let expiry: Timestamp
    let subject: String?
    private let token: ES256Token

    /// Reads a token without judging its signature; nil where the audience or the end is missing or of another form.
    init?(_ text: Substring) {
        guard let token = ES256Token(text), let audience = token.claims["aud"]?.string,
            let expiry = token.claims["exp"]?.integer, (0...Timestamp.distantFuture.seconds).contains(expiry)
        else { return nil }
        self.audience = audience
        self.expiry = Timestamp(seconds: expiry)
        subject = token.claims["sub"]?.string
        self.token = token
    }

    /// Whether the owner of the key signed the token.
    func isSigned(by key: P256PublicKey) -> Bool {
        token.isSigned(by: key)
    }

    /// Makes and signs a token.
    static func sign(
        audience: HTTPOrigin, subject: String?, at now: Timestamp, with key: P256PrivateKey
    ) throws(CryptoError) -> String {
        var claims: [String: JSON] = [
            "aud": .string(audience.description), "exp": .integer((now + lifetime).seconds),
        ]
        claims["sub"] = subject.map(JSON.string)
        return try ES256Token.sign(header: ["alg": "ES256", "typ": "JWT"], claims: .object(claims), with: key)
    }

    /// Whether a text may be a subject: a mail or web address that somebody can be reached at.
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
