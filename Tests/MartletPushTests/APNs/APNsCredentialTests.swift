import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct APNsCredentialTests {
    @Test func aKeyIsTakenAsAFileAndAsTheBodyOfOne() throws {
        let body = APNsFixture.keyPEM.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        #expect(throws: Never.self) { try APNsFixture.service() }
        #expect(throws: Never.self) { try APNsFixture.service(["Token": body]) }
    }

    @Test(arguments: [
        ("Token", "nonsense"), ("Token", nil), ("KeyId", nil), ("KeyId", "short"), ("KeyId", "ABC-123DEF"),
        ("AppId", nil), ("AppId", "ELEVENCHARS"), ("AppName", nil), ("AppName", "com.example.app/../x"),
        ("Endpoint", "http://localhost:8443"), ("Endpoint", "https://localhost/other"), ("Endpoint", "elsewhere"),
        ("EndpointCertificateAuthority", "not a certificate"), ("ApnsCertificate", "AAAA"),
    ])
    func aPropertyThatCannotBeUsedIsNamed(name: String, value: String?) throws {
        let error = try #require(throws: PushServiceError.self) { try APNsFixture.service([name: value]) }
        #expect(error.kind == .badCredential)
        #expect(error.description.contains(name))
    }

    @Test func noErrorShowsASecret() throws {
        let secret = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHB\n-----END PRIVATE KEY-----"
        let error = try #require(throws: PushServiceError.self) { try APNsFixture.service(["Token": secret]) }
        #expect(!"\(error)".contains("MIGHAgEAMBMGByqGSM49"))
    }

    @Test(arguments: [
        (nil, "https://api.push.apple.com"), ("", "https://api.push.apple.com"),
        ("production", "https://api.push.apple.com"), ("Sandbox", "https://api.sandbox.push.apple.com"),
        ("development", "https://api.sandbox.push.apple.com"),
        ("gateway.push.apple.com", "https://api.push.apple.com"),
        ("gateway.sandbox.push.apple.com", "https://api.sandbox.push.apple.com"),
        ("https://api.push.apple.com:443/3/device", "https://api.push.apple.com"),
        ("https://api.push.apple.com:2197", "https://api.push.apple.com:2197"),
        ("https://api.development.push.apple.com:443/3/device", "https://api.sandbox.push.apple.com"),
    ])
    func everySpellingOfAnEndpointLeadsToItsHost(endpoint: String?, origin: String) throws {
        #expect(try APNsFixture.origin(["Endpoint": endpoint]) == HTTPOrigin(origin))
    }

    @Test(arguments: [
        "https://127.0.0.1:9443", "https://[::1]:9443/", "https://10.0.0.5", "https://gateway.example",
        "https://push.apple.com.example", "https://notpush.apple.com:22",
    ])
    func aGatewayThatIsNotApplesNeedsAnAuthority(endpoint: String) throws {
        let error = #expect(throws: PushServiceError.self) { try APNsFixture.service(["Endpoint": endpoint]) }
        #expect(error?.kind == .badCredential)
        #expect(error?.description.contains("Endpoint must be a gateway below push.apple.com") == true)
        let authority = try CertificateAuthority.generate(commonName: "CA", now: Int(APNsFixture.now.seconds))
        let properties = [
            "Endpoint": endpoint, "EndpointCertificateAuthority": try authority.identity.certificatePEM(),
        ]
        #expect(try APNsFixture.origin(properties) == HTTPOrigin(endpoint))
    }

    @Test func aCertificateIsTakenAsPKCS12AndAsPEM() throws {
        let identity = try APNsFixture.certificate()
        let container = Base64.encode(try identity.pkcs12(password: "p"))
        let pem = try identity.certificatePEM() + identity.privateKeyPEM()
        for properties in [["ApnsCertificate": container, "CertificateKey": "p"], ["ApnsCertificate": pem]] {
            let service = try APNs(credential: Credential(properties))
            let shared = try service.shared(
                APNsFixture.message(), token: nil, expiry: APNsFixture.now, at: APNsFixture.now)
            #expect(shared.fields["apns-topic"] == "com.example.app")
            #expect(shared.fields["authorization"] == nil)
            #expect(shared.settings.clientIdentityPEM == pem)
        }
        #expect(throws: PushServiceError.self) {
            try APNs(credential: Credential(["ApnsCertificate": container, "CertificateKey": "wrong"]))
        }
    }

    @Test func aCertificateHasAnEndAndAKeyHasNone() throws {
        let end = Timestamp(seconds: Int64(try APNsFixture.certificate().certificate.notAfter))
        #expect(try APNsFixture.certificateService().expiresAt == end)
        #expect(try APNsFixture.service().expiresAt == nil)
    }

    @Test func aCertificateWithoutAUserIDNeedsAnAppName() throws {
        let identity = try APNsFixture.certificate(userID: nil)
        let pem = try identity.certificatePEM() + identity.privateKeyPEM()
        #expect(throws: PushServiceError.self) { try APNs(credential: Credential(["ApnsCertificate": pem])) }
        #expect(throws: Never.self) {
            try APNs(credential: Credential(["ApnsCertificate": pem, "AppName": "com.example.app"]))
        }
    }

    @Test func anExpiredCertificateIsNoAuthorization() throws {
        let service = try APNsFixture.certificateService()
        guard case .none = try service.authorization(at: APNsFixture.now) else {
            Issue.record("a certificate needs no token")
            return
        }
        let error = try #require(throws: PushServiceError.self) {
            try service.authorization(at: APNsFixture.now + .seconds(398 * 86_400))
        }
        #expect(error.kind == .badCredential)
    }

    @Test func everyPropertyOfTheDescriptorIsOneThatIsRead() {
        let names = APNs.descriptor.credential.fields.map(\.name)
        #expect(
            Set(names) == [
                "Token", "KeyId", "AppId", "AppName", "ApnsCertificate", "CertificateKey", "Endpoint",
                "EndpointCertificateAuthority",
            ])
        #expect(
            Set(APNs.descriptor.credential.fields.filter(\.isSecret).map(\.name))
                == ["Token", "ApnsCertificate", "CertificateKey"])
    }
}
