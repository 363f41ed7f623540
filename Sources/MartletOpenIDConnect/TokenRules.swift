import MartletCrypto
import MartletModel

/// The rules that check a token's claims.
struct TokenRules: Sendable {
    let settings: OpenIDConnectSettings

    /// The maximum accepted difference between clocks, in seconds.
    private static let clockSkew = 60.0
    /// The last time at which a token may expire: the end of the year 9999, in seconds since 1970. A later time is a
    /// mistake of the provider.
    private static let lastExpiry = Double(Timestamp.distantFuture.milliseconds) / 1000

    /// Checks the issuer before any keys are requested, because this provider does not have another issuer's keys.
    func checkIssuer(of token: IdentityToken) throws(TokenRefusal) {
        guard token.claims["iss"] == .string(settings.issuer) else { throw .foreignIssuer }
    }

    /// Verifies a token with the key that it names, and returns the token's claims.
    func claims(
        of token: IdentityToken, signedWith key: JSONWebKey, at now: Timestamp
    ) throws(TokenRefusal) -> IdentityClaims {
        guard key.hasSigned(token) else { throw .badSignature }
        try checkIssuer(of: token)
        return try claims(token.claims, at: now)
    }

    /// Checks the claims of a token whose signature was already verified.
    func claims(_ claims: JSON, at now: Timestamp) throws(TokenRefusal) -> IdentityClaims {
        try checkAudience(of: claims)
        try checkTimes(of: claims, at: Double(now.milliseconds) / 1000)
        guard claims["cnf"] == nil else { throw .bound }
        return IdentityClaims(json: claims, settings: settings)
    }

    /// Checks the audience. A token with several audiences must have been issued to this server, because otherwise any
    /// of the other audiences could present it here.
    private func checkAudience(of claims: JSON) throws(TokenRefusal) {
        let audience = JSON.string(settings.audience)
        guard let several = claims["aud"]?.array else {
            guard claims["aud"] == audience else { throw .foreignAudience }
            return
        }
        guard several.contains(audience) else { throw .foreignAudience }
        guard several.count == 1 || claims["azp"] == audience else { throw .foreignParty }
    }

    private func checkTimes(of claims: JSON, at now: Double) throws(TokenRefusal) {
        guard let expiry = try Self.seconds("exp", of: claims) else { throw .noExpiry }
        guard now < expiry + Self.clockSkew else { throw .expired }
        guard expiry <= Self.lastExpiry else { throw .endless }
        for name in ["nbf", "iat"] {
            guard let start = try Self.seconds(name, of: claims) else { continue }
            guard start <= now + Self.clockSkew else { throw .notYetValid }
        }
    }

    /// Returns a time in a claim (a NumericDate, RFC 7519, section 2), in seconds; nil if the claim is missing.
    static func seconds(_ name: String, of claims: JSON) throws(TokenRefusal) -> Double? {
        switch claims[name] {
        case nil: return nil
        case .integer(let number): return Double(number)
        case .double(let number) where number.isFinite: return number
        default: throw .badTime
        }
    }
}
