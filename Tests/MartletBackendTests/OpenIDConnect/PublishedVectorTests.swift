import MartletModel
import Testing

@testable import MartletOpenIDConnect

/// The tokens and keys that the RFCs print.
struct PublishedVectorTests {
    private static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let rsaSignature =
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CU"
        + "Ar7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_d"
        + "O--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0ig"
        + "cN_IoypGlUPQGe77Rw"
    /// RFC 7515, appendix A.2.
    static let rs256 = "eyJhbGciOiJSUzI1NiJ9.\(payload).\(rsaSignature)"
    /// RFC 7515, appendix A.3.
    static let es256 =
        "eyJhbGciOiJFUzI1NiJ9.\(payload)."
        + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    static let rsaKey: JSON = [
        "kty": "RSA", "e": "AQAB",
        "n": .string(
            "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZ"
                + "S-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2"
                + "R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcD"
                + "TW9gb54h4FRWyuXpoQ"),
    ]
    static let ecKey: JSON = [
        "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    ]

    @Test(arguments: [(rs256, rsaKey), (es256, ecKey)])
    func signaturesOfRFC7515AreRight(text: String, jwk: JSON) throws {
        let token = try IdentityToken(text)
        #expect(token.claims["iss"] == "joe")
        let key = try #require(JSONWebKey(jwk))
        #expect(key.hasSigned(token))
        // Nothing is wrong with it but that it is for nobody.
        let rules = TokenRules(settings: try OpenIDConnectSettings(issuer: "https://joe.example", audience: "m"))
        #expect(throws: TokenRefusal.foreignIssuer) { try rules.checkIssuer(of: token) }
    }

    @Test func aSignatureOfOneKeyIsNoneOfAnother() throws {
        #expect(try JSONWebKey(Self.rsaKey)?.hasSigned(IdentityToken(Self.es256)) == false)
        #expect(try JSONWebKey(Self.ecKey)?.hasSigned(IdentityToken(Self.rs256)) == false)
        for length in [0, 4, 340] {
            let cut = try IdentityToken("eyJhbGciOiJSUzI1NiJ9.\(Self.payload).\(Self.rsaSignature.prefix(length))")
            #expect(JSONWebKey(Self.rsaKey)?.hasSigned(cut) == false)
        }
    }

    /// RFC 7519, sections 3.1 (HS256) and 6.1 (none).
    @Test(arguments: [
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(payload).dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        "eyJhbGciOiJub25lIn0.\(payload).",
    ])
    func tokensOfRFC7519WithoutAPublicKeyAreRefused(text: String) {
        #expect(throws: TokenRefusal.badAlgorithm) { try IdentityToken(text) }
    }

    /// RFC 7517, appendix A.1: one for encryption, one for signatures.
    static let modulus =
        "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3"
        + "oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdA"
        + "ZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-"
        + "kEgU8awapJzKnqDKgw"

    @Test func theKeySetOfRFC7517HasOneKeyForSignatures() throws {
        let set: JSON = [
            "keys": [
                [
                    "kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
                    "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM", "use": "enc", "kid": "1",
                ],
                ["kty": "RSA", "n": .string(Self.modulus), "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"],
            ]
        ]
        let keys = try #require(JSONWebKey.keys(ofSet: set.bytes))
        #expect(keys.map(\.id) == ["2011-04-29"])
        #expect(keys.first?.algorithm == .rs256)
    }
}
