import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct WNSCredentialTests {
    private func exchange(_ changes: [String: String?] = [:]) throws -> (url: String, body: String) {
        guard case .exchange(let exchange) = try WNSFixture.service(changes).authorization(at: WNSFixture.now) else {
            throw WNSFixture.Unexpected()
        }
        #expect(exchange.request.method == .post)
        #expect(exchange.request.fields["content-type"] == "application/x-www-form-urlencoded")
        return (
            "\(exchange.origin)\(exchange.request.target)", String(decoding: exchange.request.body, as: UTF8.self)
        )
    }

    @Test func anAppOfTheStoreAsksForItsTokenWithItsPackageIdentifier() throws {
        let (url, body) = try exchange(["SecretKey": "a+b/c="])
        #expect(url == "https://login.live.com/accesstoken.srf")
        #expect(
            body == "grant_type=client_credentials&client_id=ms-app%3A%2F%2Fs-1-15-2-1&client_secret=a%2Bb%2Fc%3D"
                + "&scope=notify.windows.com")
    }

    @Test(
        "Clients of the hub write the other kind's endpoint where none is given",
        arguments: [nil, "https://login.live.com/accesstoken.srf"])
    func anAppOfADirectoryAsksThere(endpoint: String?) throws {
        let (url, body) = try exchange([
            "PackageSid": nil, "TenantId": "aa-bb", "ApplicationId": "cc-dd", "WindowsLiveEndpoint": endpoint,
        ])
        #expect(url == "https://login.microsoftonline.com/aa-bb/oauth2/v2.0/token")
        #expect(
            body == "grant_type=client_credentials&client_id=cc-dd&client_secret=key"
                + "&scope=https%3A%2F%2Fwns.windows.com%2F.default")
    }

    @Test func theEndpointCanBeAnother() throws {
        #expect(try exchange(["WindowsLiveEndpoint": "https://login.example/t?x"]).url == "https://login.example/t?x")
    }

    @Test(arguments: [
        (nil, TransportSettings.Addresses.any), ("https://login.live.com/other", .any),
        ("https://10.0.0.5:22/", .publicOnly),
    ])
    func onlyATokenEndpointOfTheServicesMayHaveAnyAddress(
        endpoint: String?, addresses: TransportSettings.Addresses
    ) throws {
        let service = try WNSFixture.service(["WindowsLiveEndpoint": endpoint])
        guard case .exchange(let exchange) = service.authorization(at: WNSFixture.now) else {
            throw WNSFixture.Unexpected()
        }
        #expect(exchange.settings.addresses == addresses)
    }

    @Test(
        arguments: [
            (["SecretKey": nil], "SecretKey"), (["PackageSid": nil], "PackageSid"),
            (["WindowsLiveEndpoint": "http://login.example/"], "WindowsLiveEndpoint"),
            (["TenantId": "a/b", "ApplicationId": "x"], "TenantId"), (["TenantId": "a"], "ApplicationId"),
            (["EndpointCertificateAuthority": "no certificate"], "EndpointCertificateAuthority"),
        ] as [([String: String?], String)])
    func aPropertyThatCannotBeUsedIsNamed(changes: [String: String?], name: String) throws {
        let error = #expect(throws: PushServiceError.self) { try WNSFixture.service(changes) }
        #expect(error?.kind == .badCredential)
        #expect(error?.description.contains(name) == true)
    }
}
