import Foundation
import Testing

@testable import MartletCrypto

struct ACMECryptographyTests {
    /// The key of RFC 7515, appendix A.3.1.
    private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"

    @Test func aThumbprintIsThatOfTheCanonicalKey() throws {
        let point = try #require(Base64URL.decode(Self.x)) + (try #require(Base64URL.decode(Self.y)))
        let key = try P256PublicKey(rawPoint: [4] + point)
        let expected = #"{"crv":"P-256","kty":"EC","x":"\#(Self.x)","y":"\#(Self.y)"}"#
        #expect(key.jsonWebKey == expected)
        // By: printf '%s' JWK | openssl dgst -sha256 -binary | basenc --base64url
        #expect(key.thumbprint == "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U")
        #expect(key.keyAuthorization(token: "tok") == "tok.oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U")
    }

    @Test func aSignatureCoversHeaderAndPayload() throws {
        let key = try P256PrivateKey.generate()
        let bytes = try JSONWebSignature.flattened(header: Array(#"{"alg":"ES256"}"#.utf8), payload: [], key: key)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: String])
        #expect(object["payload"] == "")
        let signature = try #require(object["signature"].flatMap { Base64URL.decode($0) })
        #expect(key.publicKey.isValid(signature, for: Array("\(object["protected"] ?? "").".utf8)))
    }

    @Test func aChallengesCertificateHasTheDigestInACriticalExtension() throws {
        let identity = try CertificateIdentity.challenge(
            host: "push.example.org", keyAuthorization: "tok.print", now: 1_700_000_000)
        #expect(identity.certificate.hostNames == ["push.example.org"])
        #expect(
            identity.certificate.extensionValue("1.3.6.1.5.5.7.1.31")
                == [4, 32] + SHA256.hash(Array("tok.print".utf8)))
        // Identifier, then TRUE: the extension is critical.
        let identifier: [UInt8] = [6, 8, 0x2B, 6, 1, 5, 5, 7, 1, 31, 1, 1, 0xFF]
        #expect(Data(identity.certificate.der).range(of: Data(identifier)) != nil)
        #expect(throws: CryptoError.invalidName("a,DNS:b")) {
            try CertificateIdentity.challenge(host: "a,DNS:b", keyAuthorization: "", now: 0)
        }
    }

    @Test func aSigningRequestNamesEveryHost() throws {
        let key = try P256PrivateKey.generate()
        let request = try CertificateSigningRequest(hosts: ["push.example.org", "api.example.org"], key: key)
        let bytes = Data(request.der)
        for host in ["push.example.org", "api.example.org"] { #expect(bytes.range(of: Data(host.utf8)) != nil) }
        #expect(bytes.range(of: Data(key.publicKey.rawPoint)) != nil)
        #expect(throws: CryptoError.invalidName("a b")) { try CertificateSigningRequest(hosts: ["a b"], key: key) }
    }
}
