import MartletCore
import MartletCrypto
import MartletModel
import Testing

@testable import MartletPush

struct APNsProviderTokenTests {
    private static let known =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNzAwMDAwMDAwfQ"
        + ".qVLpi5CIFKU8CYUURsqvzDniTftfRuI2QP9_QGen806DF8rdGl0SAZSF0JAg921nMgaaIQ9xPB7LRmKAsFRKKw"

    @Test func aTokenMadeElsewhereIsReadAndVerified() throws {
        let token = try #require(APNsProviderToken(Self.known[...]))
        #expect(token.keyID == "ABC123DEFG")
        #expect(token.teamID == "DEF123GHIJ")
        #expect(token.issuedAt == APNsFixture.now)
        #expect(token.isSigned(by: try P256PrivateKey(pem: APNsFixture.keyPEM).publicKey))
        #expect(try !token.isSigned(by: P256PrivateKey.generate().publicKey))
    }

    @Test func theServiceSignsATokenThatLastsFromTwentyToFiftyFiveMinutes() throws {
        guard case .token(let signed) = try APNsFixture.service().authorization(at: APNsFixture.now) else {
            Issue.record("a signing key makes tokens")
            return
        }
        let token = try #require(APNsProviderToken(signed.value[...]))
        #expect(token.keyID == APNsFixture.keyID)
        #expect(token.teamID == APNsFixture.teamID)
        #expect(token.issuedAt == APNsFixture.now)
        #expect(token.isSigned(by: try P256PrivateKey(pem: APNsFixture.keyPEM).publicKey))
        #expect(signed.renewableAt == APNsFixture.now + .seconds(20 * 60))
        #expect(signed.expiresAt == APNsFixture.now + .seconds(55 * 60))
        #expect(!"\(signed)".contains(signed.value))
    }

    @Test func theTokenHasExactlyTheClaimsThatAreAskedFor() throws {
        let key = try P256PrivateKey.generate()
        let token = try APNsProviderToken.sign(keyID: "K", teamID: "T", at: APNsFixture.now, with: key)
        let parts = token.split(separator: ".")
        let header = try JSON(parsing: #require(Base64URL.decode(parts[0])))
        let claims = try JSON(parsing: #require(Base64URL.decode(parts[1])))
        #expect(header == ["alg": "ES256", "kid": "K"])
        #expect(claims == ["iss": "T", "iat": 1_700_000_000])
    }

    @Test(arguments: [
        #"{"alg":"HS256","kid":"K"}|{"iss":"T","iat":1}"#, #"{"alg":"none","kid":"K"}|{"iss":"T","iat":1}"#,
        #"{"alg":"ES256"}|{"iss":"T","iat":1}"#, #"{"alg":"ES256","kid":"K"}|{"iat":1}"#,
        #"{"alg":"ES256","kid":"K"}|{"iss":"T"}"#, #"{"alg":"ES256","kid":"K"}|{"iss":"T","iat":"1"}"#,
        #"{"alg":"ES256","kid":"K"}|{"iss":"T","iat":-1}"#, #"[]|{}"#, #"nothing|{}"#,
    ])
    func invalidProviderTokensAreNotRead(parts: String) {
        let encoded = parts.split(separator: "|").map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
        #expect(APNsProviderToken("\(encoded).AAAA"[...]) == nil)
        #expect(APNsProviderToken(encoded[...]) == nil)
    }
}
