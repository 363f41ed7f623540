import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct APNsSimulatorStateTests {
    private static let now = APNsSimulatorFixture.now

    @Test func aTokenConnectionMayHaveOneRequestUntilItHasProvedItself() throws {
        var fixture = try APNsSimulatorFixture()
        let steps = fixture.simulator.open(APNsSimulatorFixture.connection(), at: Self.now)
        #expect(steps == [.announce(streamLimit: 1)])
        #expect(fixture.answer(try fixture.request(["apns-topic": nil])).steps.isEmpty)
        #expect(fixture.answer(try fixture.request()).steps == [.announce(streamLimit: 1000)])
        #expect(fixture.answer(try fixture.request()).steps.isEmpty)
        fixture.simulator.close(1)
        #expect(fixture.answer(try fixture.request()).steps == [.announce(streamLimit: 1000)])
    }

    @Test func aListeningDeviceReceivesAtOnce() throws {
        var fixture = try APNsSimulatorFixture()
        #expect(try fixture.listen() == [])
        let delivery = try #require(fixture.answer(try fixture.request(["apns-collapse-id": "c"])).delivery)
        #expect(delivery.handle == fixture.device)
        #expect(delivery.id == "1b4e28ba-2fa1-11d2-883f-0016d3cca427")
        #expect(delivery.payload == ["aps": ["alert": "hello"]])
        #expect(delivery.headers["apns-topic"] == "com.example.app")
        #expect(delivery.headers["apns-collapse-id"] == "c")
        #expect(delivery.headers["authorization"] == nil)
    }

    @Test func theNewestIsKeptWhileNobodyListens() throws {
        var fixture = try APNsSimulatorFixture()
        for text in ["one", "two"] {
            let answer = fixture.answer(try fixture.request(body: #"{"aps":{"alert":"\#(text)"}}"#))
            #expect(answer.delivery == nil)
        }
        let kept = try fixture.listen()
        #expect(kept.map(\.payload) == [["aps": ["alert": "two"]]])
        fixture.simulator.devices.stopListening(fixture.device)
        #expect(try fixture.listen() == [])
        #expect(fixture.simulator.counters["accepted"] == 2)
        #expect(fixture.simulator.counters["stored"] == 2)
        #expect(fixture.simulator.devices[fixture.device]?.accepted == 2)
        #expect(fixture.simulator.devices[fixture.device]?.inbox.count == 2)
    }

    @Test func whatIsNotToBeKeptIsNot() throws {
        var fixture = try APNsSimulatorFixture()
        #expect(try fixture.verdict(fixture.request(["apns-expiration": "0"])) == "200 ")
        #expect(fixture.simulator.counters["discarded"] == 1)
        #expect(try fixture.listen() == [])
    }

    @Test func expiredMessagesAreNotShown() throws {
        var fixture = try APNsSimulatorFixture()
        let expiration = String(Self.now.seconds + 60)
        #expect(try fixture.verdict(fixture.request(["apns-expiration": expiration])) == "200 ")
        #expect(try fixture.listen(at: Self.now + .seconds(60)) == [])
    }

    @Test func nothingIsKeptLongerThanThirtyDays() throws {
        for expiration: String? in [nil, "9223372036854775807"] {
            var fixture = try APNsSimulatorFixture()
            #expect(try fixture.verdict(fixture.request(["apns-expiration": expiration])) == "200 ")
            var late = fixture
            #expect(try late.listen(at: Self.now + .seconds(30 * 86_400)) == [])
            #expect(try fixture.listen(at: Self.now + .seconds(30 * 86_400 - 1)).count == 1)
        }
    }

    @Test func aDeviceWithoutTheAppIsNotListenedTo() throws {
        var fixture = try APNsSimulatorFixture()
        for handle in [fixture.device, "unknown"] {
            _ = fixture.simulator.devices.remove(handle, at: Self.now)
            let kept = fixture.simulator.devices.startListening(handle, at: Self.now)
            #expect(kept == nil)
        }
    }

    @Test func aCertificateTakesThePlaceOfATokenAndATopic() throws {
        var fixture = try APNsSimulatorFixture()
        let certificate = try APNsFixture.certificate().certificate
        let connection = APNsSimulatorFixture.connection(certificate: certificate)
        let steps = fixture.simulator.open(connection, at: Self.now)
        #expect(steps == [.announce(streamLimit: 1000)])
        let bare: [String: String?] = ["authorization": nil, "apns-topic": nil]
        #expect(try fixture.verdict(fixture.request(bare, on: connection)) == "200 ")
        let elsewhere: [String: String?] = ["authorization": nil, "apns-topic": "com.other.app"]
        #expect(try fixture.verdict(fixture.request(elsewhere, on: connection)) == "400 TopicDisallowed")
        let live: [String: String?] = ["apns-push-type": "liveactivity"]
        #expect(try fixture.verdict(fixture.request(live, on: connection)) == "400 InvalidPushType")
    }

    @Test func aCertificateForSeveralTopicsMustSayWhich() throws {
        var fixture = try APNsSimulatorFixture()
        let topics = ["com.example.app", "com.example.app.voip"]
        let content = topics.flatMap { topic -> [UInt8] in
            [0x0C, UInt8(topic.utf8.count)] + Array(topic.utf8) + [0x30, 0x00]
        }
        let request = CertificateRequest(
            commonName: "several", userID: "com.example.app",
            extensions: ["1.2.840.113635.100.6.3.6": [0x30, UInt8(content.count)] + content])
        let identity = try CertificateAuthority.generate(commonName: "CA", now: Int(Self.now.seconds))
            .issue(request, now: Int(Self.now.seconds))
        #expect(APNsCertificateExtensions.topics(of: identity.certificate) == topics)
        let connection = APNsSimulatorFixture.connection(certificate: identity.certificate)
        #expect(
            try fixture.verdict(fixture.request(["authorization": nil, "apns-topic": nil], on: connection))
                == "400 MissingTopic")
        #expect(try fixture.verdict(fixture.request(["authorization": nil], on: connection)) == "200 ")
    }

    @Test(arguments: [
        ("1.2.840.113635.100.6.3.1", APNsEnvironment.production), ("1.2.840.113635.100.6.3.2", .sandbox),
    ])
    func aCertificateOfTheOtherEnvironmentIsSentAway(identifier: String, environment: APNsEnvironment) throws {
        var fixture = try APNsSimulatorFixture { $0.environment = environment }
        let request = CertificateRequest(
            commonName: "c", userID: "com.example.app", extensions: [identifier: [0x05, 0x00]])
        let identity = try CertificateAuthority.generate(commonName: "CA", now: Int(Self.now.seconds))
            .issue(request, now: Int(Self.now.seconds))
        let connection = APNsSimulatorFixture.connection(certificate: identity.certificate)
        let steps = fixture.simulator.open(connection, at: Self.now)
        #expect(steps == [.goAway(reason: "BadCertificateEnvironment")])
    }

    @Test func anExpiredCertificateIsSentAway() throws {
        var fixture = try APNsSimulatorFixture()
        let connection = APNsSimulatorFixture.connection(certificate: try APNsFixture.certificate().certificate)
        let late = Self.now + .seconds(400 * 86_400)
        let steps = fixture.simulator.open(connection, at: late)
        #expect(steps == [.goAway(reason: "BadCertificate")])
    }

    @Test(arguments: ["bundleId", "teamId", "keyId", "publicKey"])
    func anAppIsRegisteredWithAllItsMembers(member: String) throws {
        var simulator = APNsSimulator()
        for value: JSON in [.null, 7, ""] {
            let app = try APNsSimulatorFixture.app([member: value])
            let error = #expect(throws: SimulatorError.self) { try simulator.register(app: app) }
            #expect(error?.description.contains(member) == true)
        }
        #expect(throws: SimulatorError.self) {
            try simulator.register(app: APNsSimulatorFixture.app(["publicKey": "not a key"]))
        }
        #expect(throws: SimulatorError.self) {
            try simulator.register(app: APNsSimulatorFixture.app(["environment": "staging"]))
        }
    }

    @Test func aDeviceIsOfTheAppThatItNamesOrOfTheExample() throws {
        var simulator = APNsSimulator()
        #expect(try simulator.addDevice([:]) != simulator.addDevice(["topic": "com.example.app"]))
        #expect(throws: SimulatorError.self) { try simulator.addDevice(["topic": "not a topic"]) }
    }

    /// What our own translator sends, our own simulator accepts, type by type.
    @Test(arguments: APNsPushType.allCases.filter(\.allowsToken))
    func whatTheTranslatorSendsTheSimulatorAccepts(type: APNsPushType) throws {
        var fixture = try APNsSimulatorFixture()
        let message = APNsFixture.message(#"{"aps":{}}"#, ["apns-push-type": type.rawValue])
        let shared = try APNsFixture.service()
            .shared(message, token: APNsSimulatorFixture.jwt(), expiry: Self.now + .seconds(60), at: Self.now)
        var fields = shared.fields
        let device = try fixture.simulator.addDevice(["topic": .string(fields["apns-topic"] ?? "")])
        fields.append(HTTPField("apns-id", "1b4e28ba-2fa1-81d2-883f-0016d3cca427"))
        let request = HTTPRequest(
            shared.method, shared.pathPrefix + device, fields: fields, body: message.body,
            connection: APNsSimulatorFixture.connection())
        #expect(try fixture.verdict(request) == "200 ")
    }
}
