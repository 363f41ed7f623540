import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct MPNSRequestTests {
    private static let channel = "http://sn1.notify.live.net/throttledthirdparty/01.00/AAF?x"

    @Test(
        arguments: [
            (MPNSFixture.toast, ["x-windowsphone-target: toast", "x-notificationclass: 2"], "hello: you"),
            (MPNSFixture.tile, ["x-windowsphone-target: token", "x-notificationclass: 1"], "news"),
            ("anything < at all", ["x-notificationclass: 3"], nil),
        ] as [(String, [String], String?)])
    func whatTheTranslatorSendsTheServiceAcceptsAndThePhoneShows(
        body: String, fields: [String], text: String?
    ) throws {
        var fixture = try MPNSFixture()
        let handle = try fixture.simulator.addDevice([:])
        let request = try fixture.request(body, to: handle)
        #expect(
            request.fields.map { "\($0.name): \($0.value)" }
                == ["content-type: text/xml"] + fields + ["x-messageid: 00000000-0000-8001-8000-000000000002"])
        let answer = fixture.simulator.answer(request, at: MPNSFixture.now)
        #expect(fixture.service.outcome(of: answer.response, at: MPNSFixture.now) == .accepted)
        #expect(answer.response.fields["x-messageid"] == "00000000-0000-8001-8000-000000000002")
        let delivery = try #require(fixture.simulator.devices[handle]?.inbox.last)
        #expect(delivery.payload == .string(body) && delivery.text == text)
    }

    @Test func aChannelInTheClearGetsNeitherCertificateNorAnythingElse() throws {
        let service = try MPNS(credential: Credential([:]))
        let request = try MPNSFixture.request(Message(body: [1]), to: Self.channel, of: service)
        #expect(request.authority == "sn1.notify.live.net" && request.target == "/throttledthirdparty/01.00/AAF?x")
        let withCertificate = try MPNSFixture().service
        let shared = try withCertificate.at(try #require(HTTPOrigin("http://sn1.notify.live.net")))
            .shared(Message(body: [1]), token: nil, expiry: MPNSFixture.now, at: MPNSFixture.now)
        #expect(shared.settings.clientIdentityPEM == nil && shared.settings.version == .http1)
        let secure = try withCertificate.at(try #require(HTTPOrigin("https://sn1.notify.live.net")))
            .shared(Message(body: [1]), token: nil, expiry: MPNSFixture.now, at: MPNSFixture.now)
        #expect(secure.settings.clientIdentityPEM?.contains("PRIVATE KEY") == true)
    }

    @Test(arguments: [
        "http://notify.live.net/a", "http://sn1.notify.live.net.example/", "http://evilnotify.live.net/",
        "http://sn1.notify.live.net:8080/", "http://10.0.0.1/", "http://169.254.169.254/", "ftp://sn1.notify.live.net/",
    ])
    func aHostThatIsNotTheServicesIsRefused(uri: String) throws {
        #expect(throws: PushServiceError.self) { try MPNS.key(of: PushHandle(uri)) }
        let service = try MPNS(credential: Credential([:]))
        #expect(throws: PushServiceError.self) { try MPNSFixture.origin(of: uri, service) }
    }

    @Test func channelsOnThisMachineAreOfASimulatedServiceWhoseAuthorityTheCredentialNames() throws {
        let real = try MPNS(credential: Credential([:]))
        let simulated = try MPNSFixture().service
        for uri in ["http://127.0.0.1:80/a", "https://localhost:8443/a"] {
            #expect(throws: Never.self) { try MPNS.key(of: PushHandle(uri)) }
            #expect(throws: PushServiceError.self) { try MPNSFixture.origin(of: uri, real) }
            #expect(throws: Never.self) { try MPNSFixture.origin(of: uri, simulated) }
        }
    }

    @Test func aCertificateIsTakenAsPEMAndAsAContainer() throws {
        let identity = try MPNSFixture().identity
        let container = Base64.encode(try identity.pkcs12(password: "open"))
        let properties = ["MpnsCertificate": container, "CertificateKey": "open"]
        #expect(throws: Never.self) { try MPNS(credential: Credential(properties)) }
        for wrong in [["MpnsCertificate": container, "CertificateKey": "shut"], ["MpnsCertificate": "no certificate"]] {
            let error = #expect(throws: PushServiceError.self) { try MPNS(credential: Credential(wrong)) }
            #expect(error?.kind == .badCredential && error?.description.contains("MpnsCertificate") == true)
        }
    }

    @Test func aCertificateThatHasExpiredPausesThePlatform() throws {
        let authority = try CertificateAuthority.generate(commonName: "Test", now: 1_600_000_000, days: 3)
        let identity = try authority.issue(
            CertificateRequest(commonName: "push.example", hosts: []), now: 1_600_000_000, days: 2)
        let service = try MPNS(
            credential: Credential(["MpnsCertificate": try identity.certificatePEM() + identity.privateKeyPEM()]))
        let error = #expect(throws: PushServiceError.self) { try service.authorization(at: MPNSFixture.now) }
        #expect(error?.kind == .badCredential)
    }
}
