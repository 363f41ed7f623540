import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct WebPushCredentialTests {
    private let key = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    private let point = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"

    private func credential(_ changes: [String: String?] = [:]) throws(PushServiceError) -> WebPushCredential {
        var properties = ["Subject": "mailto:push@example.com", "VapidPublicKey": point, "VapidPrivateKey": key]
        for (name, value) in changes { properties[name] = value }
        return try WebPushCredential(Credential(properties))
    }

    @Test func theSenderCanBeLeftOut() throws {
        #expect(try credential(["Subject": nil]).subject == nil)
        let service = try WebPush(credential: Credential(["VapidPrivateKey": key])).at(WebPushFixture.origin)
        guard case .token(let token) = try service.authorization(at: WebPushFixture.now) else {
            Issue.record("a sender proves itself by a token")
            return
        }
        #expect(try #require(VAPIDToken(token.value[...])).subject == nil)
    }

    @Test func aGeneratedKeyPairIsACredentialAndEachIsAnother() throws {
        let generated = try WebPush.generatedCredential()
        #expect(Set(generated.keys) == ["VapidPublicKey", "VapidPrivateKey"])
        #expect(try WebPushCredential(Credential(generated)).publicKeyText == generated["VapidPublicKey"])
        #expect(try WebPush.generatedCredential() != generated)
    }

    @Test func thePublicKeyMayBeLeftOut() throws {
        #expect(try credential(["VapidPublicKey": nil]).publicKeyText == point)
        #expect(try credential(["VapidPublicKey": point + "="]).publicKeyText == point)
    }

    @Test(arguments: [
        ["Subject": "someone@example.com"], ["Subject": "mailto:me@localhost"],
        ["Subject": "mailto: me@example.com"], ["Subject": "mailto:<me@example.com>"],
        ["Subject": "http://example.com"],
        ["Subject": "https://localhost"], ["VapidPrivateKey": nil], ["VapidPrivateKey": "AAAA"],
        ["VapidPrivateKey": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"], ["VapidPublicKey": "AAAA"],
        ["VapidPublicKey": WebPushFixture.point], ["AllowedHosts": "a,,b"], ["AllowedHosts": "https://a"],
        ["EndpointCertificateAuthority": "x"],
    ])
    func unusableValuesAreNamedAndNotShown(changes: [String: String?]) throws {
        let error = try #require(throws: PushServiceError.self) { try credential(changes) }
        #expect(error.kind == .badCredential)
        let name = try #require(changes.keys.first)
        #expect(error.description.hasPrefix(name))
        if let value = changes[name] ?? nil, value.utf8.count > 5 { #expect(!error.description.contains(value)) }
    }

    @Test func withoutAListEveryPublicAddressIsAllowedAndThisMachineIsNot() throws {
        let credential = try credential()
        #expect(credential.settings.addresses == .publicOnly)
        #expect(credential.allows(HTTPOrigin(scheme: .https, host: "push.example")))
        for url in ["http://push.example", "https://localhost:8443", "http://127.0.0.1:9", "https://[::1]:9"] {
            #expect(try !credential.allows(#require(HTTPOrigin(url))))
        }
    }

    @Test func aListAllowsWhatItNames() throws {
        let credential = try credential(["AllowedHosts": "push.example, *.Push.example"])
        #expect(credential.settings.addresses == .publicOnly)
        for (host, isAllowed) in [
            ("push.example", true), ("a.push.example", true), ("a.b.push.example", true), ("xpush.example", false),
            ("other.example", false), ("push.example.org", false),
        ] {
            #expect(credential.allows(HTTPOrigin(scheme: .https, host: host)) == isAllowed)
        }
    }

    @Test func thisMachineIsAllowedWhereItIsNamed() throws {
        let credential = try credential(["AllowedHosts": "127.0.0.1"])
        #expect(credential.settings.addresses == .publicOrLoopback)
        #expect(credential.allows(HTTPOrigin(scheme: .http, host: "127.0.0.1", port: 9)))
        #expect(credential.allows(HTTPOrigin(scheme: .https, host: "127.0.0.1", port: 9)))
        #expect(!credential.allows(HTTPOrigin(scheme: .https, host: "localhost")))
    }

    @Test func anOriginThatIsNotAllowedIsNone() throws {
        let service = try WebPush(
            credential: Credential(["Subject": "mailto:push@example.com", "VapidPrivateKey": key]))
        for endpoint in ["http://127.0.0.1:9/a", "https://localhost/a", "http://a.example/b"] {
            let error = try #require(throws: PushServiceError.self) {
                try WebPushFixture.origin(of: PushHandle(endpoint, "p", "a"), service)
            }
            #expect(error.kind == .badHandle)
            #expect(!error.description.contains(endpoint))
        }
    }
}
