import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct ADMTests {
    @Test func aRequestIsWhatTheServiceDocuments() throws {
        let message = Message(body: Array(#"{"data":{}}"#.utf8))
        let request = ADMFixture.request(
            message, to: "amzn1.adm-registration.v3.Y/9+", of: try ADMFixture.service(), token: "Atc|x")
        #expect(request.method == .post && request.authority == "api.amazon.com")
        #expect(request.target == "/messaging/registrations/amzn1.adm-registration.v3.Y%2F9%2B/messages")
        #expect(
            request.fields.map { "\($0.name): \($0.value)" } == [
                "authorization: Bearer Atc|x", "content-type: application/json", "accept: application/json",
                "x-amzn-type-version: com.amazon.device.messaging.ADMMessage@1.0",
                "x-amzn-accept-type: com.amazon.device.messaging.ADMSendResult@1.0",
            ])
        #expect(request.fields.first?.indexing == .never)
        #expect(request.body == message.body, "the sender's own words")
    }

    @Test func aTokenIsAskedForWithTheClientsSecret() throws {
        let exchange = try ADMFixture.exchange(of: ADMFixture.service())
        #expect("\(exchange.origin)\(exchange.request.target)" == "https://api.amazon.com/auth/O2/token")
        #expect(
            String(decoding: exchange.request.body, as: UTF8.self)
                == "grant_type=client_credentials&scope=messaging%3Apush&client_id=client&client_secret=secret")
    }

    @Test func bothAddressesCanBeOthers() throws {
        let service = try ADMFixture.service([
            "AuthTokenUrl": "https://localhost:8450/adm/token",
            "SendUrlTemplate": "https://localhost:8450/adm/send/{0}/m?x",
        ])
        let exchange = try ADMFixture.exchange(of: service)
        #expect("\(exchange.origin)\(exchange.request.target)" == "https://localhost:8450/adm/token")
        let request = ADMFixture.request(Message(body: []), to: "id", of: service, token: nil)
        #expect(request.authority == "localhost:8450" && request.target == "/adm/send/id/m?x")
        #expect(exchange.settings.addresses == .publicOnly, "whoever manages a hub over the network cannot look inside")
    }

    @Test func onlyAddressesThatAreNotTheDefaultsAreRestricted() throws {
        let service = try ADMFixture.service(["SendUrlTemplate": "https://10.0.0.5:22/{0}"])
        #expect(try ADMFixture.exchange(of: service).settings.addresses == .any)
        let shared = service.shared(Message(body: []), token: nil, expiry: ADMFixture.now, at: ADMFixture.now)
        #expect(shared.settings.addresses == .publicOnly)
    }

    @Test(
        arguments: [
            ("ClientId", nil), ("ClientSecret", ""), ("AuthTokenUrl", "http://token.example/"), ("AuthTokenUrl", "x"),
            ("SendUrlTemplate", "https://send.example/messages"), ("SendUrlTemplate", "https://send.example/{0}/{0}"),
            ("SendUrlTemplate", "https://{0}.example/"), ("EndpointCertificateAuthority", "no certificate"),
        ] as [(String, String?)])
    func aPropertyThatCannotBeUsedIsNamed(name: String, value: String?) throws {
        let error = #expect(throws: PushServiceError.self) { try ADMFixture.service([name: value]) }
        #expect(error?.kind == .badCredential)
        #expect(error?.description.contains(name) == true)
    }
}
