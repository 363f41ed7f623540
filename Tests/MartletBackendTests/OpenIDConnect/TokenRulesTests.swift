import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend
@testable import MartletOpenIDConnect

struct TokenRulesTests {
    let now = Timestamp(seconds: 1_700_000_000)

    /// Who a token is, with the key that signed it.
    private func caller(
        _ maker: TokenMaker, _ token: String, settings: OpenIDConnectSettings? = nil, at timestamp: Timestamp? = nil
    ) throws -> Caller {
        let rules = TokenRules(settings: try settings ?? TokenMaker.settings())
        let key = try #require(maker.publicKey)
        let token = try IdentityToken(token)
        try rules.checkIssuer(of: token)
        return try rules.claims(of: token, signedWith: key, at: timestamp ?? now).caller()
    }

    @Test func aGoodTokenIsItsUser() throws {
        let maker = try TokenMaker()
        let caller = try caller(maker, try maker.token(TokenMaker.claims(at: now)))
        #expect(caller.name.spelling == "Alice")
        #expect(caller.roles.isEmpty)
    }

    static let badClaims: [(name: String, value: JSON, refusal: TokenRefusal)] = [
        ("iss", "https://id.example/realm/", .foreignIssuer),
        ("iss", "https://elsewhere.example/realm", .foreignIssuer),
        ("iss", ["https://id.example/realm"], .foreignIssuer),
        ("iss", .null, .foreignIssuer),
        ("aud", "other", .foreignAudience),
        ("aud", "Martlet", .foreignAudience),
        ("aud", ["other", "another"], .foreignAudience),
        ("aud", [], .foreignAudience),
        ("aud", .null, .foreignAudience),
        ("aud", ["martlet", "other"], .foreignParty),
        ("exp", .null, .noExpiry),
        ("exp", "1700000300", .badTime),
        ("exp", 1_699_999_940, .expired),
        ("exp", -1, .expired),
        ("exp", .double(1_699_999_939.5), .expired),
        ("exp", .double(1e300), .endless),
        ("exp", 253_402_300_800, .endless),
        ("nbf", 1_700_000_061, .notYetValid),
        ("nbf", .double(1e300), .notYetValid),
        ("nbf", true, .badTime),
        ("iat", 1_700_000_061, .notYetValid),
        ("iat", [], .badTime),
        ("cnf", ["jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"], .bound),
        ("preferred_username", .null, .noUser(claim: "preferred_username")),
        ("preferred_username", 7, .noUser(claim: "preferred_username")),
        ("preferred_username", "", .noUser(claim: "preferred_username")),
        ("preferred_username", "alice && bob", .noUser(claim: "preferred_username")),
        ("preferred_username", "mar\u{212A}", .noUser(claim: "preferred_username")),
        ("preferred_username", .string(String(repeating: "a", count: 300)), .noUser(claim: "preferred_username")),
    ]

    @Test(arguments: badClaims)
    func aBadClaimIsRefused(name: String, value: JSON, refusal: TokenRefusal) throws {
        let maker = try TokenMaker()
        var claims = TokenMaker.claims(at: now)
        claims[name] = value == .null ? nil : value
        #expect(throws: refusal) { try caller(maker, try maker.token(claims)) }
    }

    static let goodClaims: [(name: String, value: JSON)] = [
        ("aud", ["martlet"]),
        ("exp", 1_699_999_941),
        ("exp", .double(1_700_000_000.25)),
        ("exp", 253_402_300_799),
        ("nbf", 1_700_000_060),
        ("iat", 1_700_000_060),
        ("azp", "an-app"),
        ("nonce", "n"),
    ]

    @Test(arguments: goodClaims)
    func aGoodClaimIsAccepted(name: String, value: JSON) throws {
        let maker = try TokenMaker()
        var claims = TokenMaker.claims(at: now)
        claims[name] = value
        #expect(try caller(maker, try maker.token(claims)).name.spelling == "Alice")
    }

    @Test func aTokenForSeveralAudiencesIsAcceptedFromItsAuthorizedParty() throws {
        let maker = try TokenMaker()
        var claims = TokenMaker.claims(at: now)
        claims["aud"] = ["other", "martlet"]
        claims["azp"] = "martlet"
        #expect(try caller(maker, try maker.token(claims)).name.spelling == "Alice")
        claims["azp"] = "other"
        #expect(throws: TokenRefusal.foreignParty) { try caller(maker, try maker.token(claims)) }
    }

    @Test func anAddressThatIsNotVerifiedIsNobody() throws {
        let maker = try TokenMaker()
        let settings = try OpenIDConnectSettings(
            issuer: "https://id.example/realm", audience: "martlet", userClaim: "email")
        var claims = TokenMaker.claims(at: now)
        claims["email"] = "alice@example.org"
        for accepted in [nil, true, "true"] as [JSON?] {
            claims["email_verified"] = accepted
            let caller = try caller(maker, try maker.token(claims), settings: settings)
            #expect(caller.name.folded == "alice@example.org")
        }
        for refused in [false, "false", "", 1, .null] as [JSON] {
            claims["email_verified"] = refused
            #expect(throws: TokenRefusal.unverifiedAddress) {
                try caller(maker, try maker.token(claims), settings: settings)
            }
        }
        #expect(try caller(maker, try maker.token(claims)).name.spelling == "Alice")
    }

    static let badHeaders: [(name: String, value: JSON, refusal: TokenRefusal)] = [
        ("alg", "none", .badAlgorithm),
        ("alg", "None", .badAlgorithm),
        ("alg", "HS256", .badAlgorithm),
        ("alg", "RS512", .badAlgorithm),
        ("alg", "PS256", .badAlgorithm),
        ("alg", "es256", .badAlgorithm),
        ("alg", ["ES256"], .badAlgorithm),
        ("alg", .null, .badAlgorithm),
        ("jku", "https://elsewhere.example/keys", .badHeader),
        ("jwk", ["kty": "EC"], .badHeader),
        ("x5u", "https://elsewhere.example/certificate", .badHeader),
        ("x5c", ["MIIB"], .badHeader),
        ("crit", ["exp"], .badHeader),
        ("zip", "DEF", .badHeader),
        ("kid", 1, .badHeader),
        ("kid", .string(String(repeating: "k", count: 257)), .badHeader),
        ("typ", "logout+jwt", .badType),
        ("typ", "dpop+jwt", .badType),
        ("typ", 1, .badType),
    ]

    @Test(arguments: badHeaders)
    func aBadHeaderIsRefused(name: String, value: JSON, refusal: TokenRefusal) throws {
        let maker = try TokenMaker()
        let token = try maker.token(TokenMaker.claims(at: now), header: [name: value])
        #expect(throws: refusal) { try IdentityToken(token) }
    }

    @Test(arguments: ["JWT", "at+jwt", "application/at+jwt", "AT+JWT", .null] as [JSON])
    func tokensForLogInsSayItOrNothing(type: JSON) throws {
        let maker = try TokenMaker()
        let token = try maker.token(TokenMaker.claims(at: now), header: ["typ": type, "x5t": "print"])
        #expect(try caller(maker, token).name.spelling == "Alice")
    }

    @Test func anotherKeysAlgorithmIsNoWayAround() throws {
        let maker = try TokenMaker()
        let token = try maker.token(TokenMaker.claims(at: now), header: ["alg": "RS256"])
        #expect(throws: TokenRefusal.badSignature) { try caller(maker, token) }
    }

    @Test func whatIsChangedIsRefused() throws {
        let maker = try TokenMaker()
        let token = try maker.token(TokenMaker.claims(at: now))
        let other = try maker.token(TokenMaker.claims(at: now).merging(["preferred_username": "bob"]) { $1 })
        var parts = token.split(separator: ".")
        parts[1] = other.split(separator: ".")[1]
        #expect(throws: TokenRefusal.badSignature) { try caller(maker, parts.joined(separator: ".")) }
        #expect(throws: TokenRefusal.badSignature) { try caller(try TokenMaker(), token) }
    }

    @Test(arguments: [
        ".", "..", "a.b", "a.b.c.d", "e30.e30.e30=", "e30.e30.+", "e30.W10.", "ICA.e30.", "é.e30.",
        "eyJhbGciOiJFUzI1NiJ9 .e30.e30", "eyJhbGciOiJFUzI1NiJ9.e30.e30.e30.e30",
    ])
    func invalidTokensAreRefused(text: String) {
        #expect(throws: TokenRefusal.malformed) { try IdentityToken(text) }
    }

    @Test func aTokenHasALongestLength() {
        #expect(throws: TokenRefusal.tooLong) { try IdentityToken(String(repeating: ".", count: 16_385)) }
    }

    static let roles: [(claim: String, claims: [String: JSON], roles: Set<String>)] = [
        ("roles", ["roles": ["admin", "editor"]], ["admin", "editor"]),
        ("roles", ["roles": "admin"], ["admin"]),
        ("roles", ["roles": ["admin", 1, ["deep"]]], ["admin"]),
        ("roles", ["roles": ["admin": true]], []),
        ("roles", [:], []),
        ("realm_access.roles", ["realm_access": ["roles": ["admin"]]], ["admin"]),
        ("realm_access.roles", ["realm_access": "admin"], []),
        ("https://id.example/roles", ["https://id.example/roles": ["admin"]], ["admin"]),
    ]

    @Test(arguments: roles)
    func rolesComeFromTheClaimThatIsNamed(claim: String, claims: [String: JSON], roles: Set<String>) throws {
        let maker = try TokenMaker()
        let token = try maker.token(TokenMaker.claims(at: now).merging(claims) { $1 })
        #expect(try caller(maker, token, settings: TokenMaker.settings(rolesClaim: claim)).roles == roles)
        #expect(try caller(maker, token).roles.isEmpty)
    }

    @Test func theUserClaimIsConfigurable() throws {
        let maker = try TokenMaker()
        let token = try maker.token(TokenMaker.claims(at: now).merging(["sub": "24400320"]) { $1 })
        let settings = try TokenMaker.settings(userClaim: "sub")
        #expect(try caller(maker, token, settings: settings).name.spelling == "24400320")
    }
}
