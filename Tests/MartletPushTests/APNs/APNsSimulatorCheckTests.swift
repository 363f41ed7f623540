import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

/// The rows of PushServices.md, section 10.2, one after the other.
struct APNsSimulatorCheckTests {
    @Test func validInputIsAccepted() throws {
        var fixture = try APNsSimulatorFixture()
        let response = fixture.answer(try fixture.request()).response
        #expect(response.status == .ok)
        #expect(response.bytes.isEmpty)
        #expect(response.fields["apns-id"] == "1b4e28ba-2fa1-11d2-883f-0016d3cca427")
    }

    @Test func anIDIsMadeUpWhereNoneIsGiven() throws {
        var fixture = try APNsSimulatorFixture()
        let response = fixture.answer(try fixture.request(["apns-id": nil])).response
        let id = try #require(response.fields["apns-id"])
        #expect(APNsSimulator.canonicalID(id) == id)
    }

    @Test(arguments: [(APNsEnvironment.sandbox, true), (.production, false)])
    func onlyTheSandboxTellsItsUniqueID(environment: APNsEnvironment, isTold: Bool) throws {
        var fixture = try APNsSimulatorFixture { $0.environment = environment }
        #expect((fixture.answer(try fixture.request()).response.fields["apns-unique-id"] != nil) == isTold)
    }

    @Test("row 1: only HTTP/2 is spoken")
    func onlyHTTP2IsSpoken() throws {
        var fixture = try APNsSimulatorFixture()
        var request = try fixture.request()
        request.connection?.majorVersion = 1
        #expect(try fixture.verdict(request) == "505 HTTP2Required")
    }

    @Test("row 4: no field twice")
    func noFieldTwice() throws {
        var fixture = try APNsSimulatorFixture()
        var request = try fixture.request()
        request.fields.append(HTTPField("apns-priority", "5"))
        #expect(try fixture.verdict(request) == "400 DuplicateHeaders")
    }

    @Test("row 5: an id is a UUID", arguments: ["x", "1b4e28ba2fa111d2883f0016d3cca427", ""])
    func anIDIsAUUID(id: String) throws {
        var fixture = try APNsSimulatorFixture()
        #expect(try fixture.verdict(fixture.request(["apns-id": id])) == "400 BadMessageId")
    }

    @Test("row 6: only POST")
    func onlyPOST() throws {
        var fixture = try APNsSimulatorFixture()
        var request = try fixture.request()
        request.method = .get
        #expect(try fixture.verdict(request) == "405 MethodNotAllowed")
    }

    @Test(
        "rows 7 and 8: the path names a device",
        arguments: [
            ("/", "404 BadPath"), ("/3/devices/ab", "404 BadPath"), ("/3/device/ab/cd", "404 BadPath"),
            ("/3/device/", "400 MissingDeviceToken"), ("/3/device", "400 MissingDeviceToken"),
        ])
    func thePathNamesADevice(target: String, verdict: String) throws {
        var fixture = try APNsSimulatorFixture()
        var request = try fixture.request()
        request.target = target
        #expect(try fixture.verdict(request) == verdict)
    }

    @Test("row 9: a provider token is there")
    func aProviderTokenIsThere() throws {
        var fixture = try APNsSimulatorFixture()
        #expect(try fixture.verdict(fixture.request(["authorization": nil])) == "403 MissingProviderToken")
    }

    @Test("row 10: the provider token is signed by a known key of its team")
    func theProviderTokenIsSigned() throws {
        var fixture = try APNsSimulatorFixture()
        let bad = [
            "bearer", "basic abc", "bearer a.b", "bearer \(try APNsSimulatorFixture.jwt().dropLast(4))AAAA",
            "bearer \(try APNsSimulatorFixture.jwt(keyID: "UNKNOWNKEY"))",
            "bearer \(try APNsSimulatorFixture.jwt(teamID: "OTHERTEAM1"))",
            "bearer \(try APNsSimulatorFixture.jwt(key: P256PrivateKey.generate()))",
            "bearer \(try APNsSimulatorFixture.jwt(at: APNsSimulatorFixture.now + .seconds(60)))",
        ]
        for value in bad {
            #expect(try fixture.verdict(fixture.request(["authorization": value])) == "403 InvalidProviderToken")
        }
    }

    @Test("row 10: any key will do where the simulator is told so")
    func anyKeyWillDo() throws {
        var fixture = try APNsSimulatorFixture { $0.acceptsAnyKey = true }
        let token = "bearer \(try APNsSimulatorFixture.jwt(keyID: "UNKNOWNKEY", key: P256PrivateKey.generate()))"
        let device = try fixture.simulator.addDevice(["topic": "com.example.unknown"])
        let request = try fixture.request(
            ["authorization": token, "apns-topic": "com.example.unknown"], to: device)
        #expect(try fixture.verdict(request) == "200 ")
        let forged = "bearer \(try APNsSimulatorFixture.jwt(key: P256PrivateKey.generate()))"
        #expect(try fixture.verdict(fixture.request(["authorization": forged])) == "403 InvalidProviderToken")
    }

    @Test("row 11: a key may be for one environment only")
    func aKeyMayBeForOneEnvironment() throws {
        var fixture = try APNsSimulatorFixture()
        try fixture.simulator.register(app: APNsSimulatorFixture.app(["environment": "production"]))
        #expect(try fixture.verdict(fixture.request()) == "403 BadEnvironmentKeyInToken")
        try fixture.simulator.register(app: APNsSimulatorFixture.app(["environment": "sandbox"]))
        #expect(try fixture.verdict(fixture.request()) == "200 ")
    }

    @Test("row 12: a provider token is accepted for an hour")
    func aProviderTokenIsAcceptedForAnHour() throws {
        var fixture = try APNsSimulatorFixture()
        let request = try fixture.request()
        #expect(try fixture.verdict(request, at: APNsSimulatorFixture.now + .seconds(3600)) == "200 ")
        #expect(
            try fixture.verdict(request, at: APNsSimulatorFixture.now + .seconds(3601)) == "403 ExpiredProviderToken")
    }

    @Test("row 13: a connection belongs to one team and key")
    func aConnectionBelongsToOneTeamAndKey() throws {
        var fixture = try APNsSimulatorFixture()
        let key = try P256PrivateKey.generate()
        let pem = JSON.string(try key.publicKey.pem())
        try fixture.simulator.register(
            app: APNsSimulatorFixture.app(["keyId": "SECONDKEY1", "publicKey": pem]))
        try fixture.simulator.register(
            app: APNsSimulatorFixture.app([
                "bundleId": "com.other.app", "teamId": "OTHERTEAM1", "keyId": "OTHERTEAMK", "publicKey": pem,
            ]))
        #expect(try fixture.verdict(fixture.request()) == "200 ")
        let sameTeam = "bearer \(try APNsSimulatorFixture.jwt(keyID: "SECONDKEY1", key: key))"
        #expect(try fixture.verdict(fixture.request(["authorization": sameTeam])) == "403 UnrelatedKeyIdInToken")
        let other = "bearer \(try APNsSimulatorFixture.jwt(keyID: "OTHERTEAMK", teamID: "OTHERTEAM1", key: key))"
        #expect(try fixture.verdict(fixture.request(["authorization": other])) == "403 InvalidProviderToken")
        let elsewhere = APNsSimulatorFixture.connection(2)
        #expect(try fixture.verdict(fixture.request(["authorization": sameTeam], on: elsewhere)) == "200 ")
    }

    @Test("row 14: a new provider token every twenty minutes at most")
    func aNewProviderTokenEveryTwentyMinutes() throws {
        var fixture = try APNsSimulatorFixture()
        let soon = APNsSimulatorFixture.now + .seconds(19 * 60)
        let later = APNsSimulatorFixture.now + .seconds(20 * 60)
        #expect(try fixture.verdict(fixture.request()) == "200 ")
        let early = "bearer \(try APNsSimulatorFixture.jwt(at: soon))"
        #expect(
            try fixture.verdict(fixture.request(["authorization": early]), at: soon)
                == "429 TooManyProviderTokenUpdates")
        #expect(try fixture.verdict(fixture.request(), at: soon) == "200 ")
        let renewed = "bearer \(try APNsSimulatorFixture.jwt(at: later))"
        #expect(try fixture.verdict(fixture.request(["authorization": renewed]), at: later) == "200 ")
    }

    @Test func anAuthorizationInTheHeaderTableIsRefusedAndCounted() throws {
        var fixture = try APNsSimulatorFixture()
        var request = try fixture.request(["authorization": nil])
        request.fields.append(HTTPField("authorization", "bearer \(try APNsSimulatorFixture.jwt())"))
        #expect(try fixture.verdict(request) == "400 AuthorizationInHeaderTable")
        #expect(fixture.simulator.counters["refused.AuthorizationInHeaderTable"] == 1)
    }

    @Test(
        "rows 15 to 18: topic and type fit each other and the credential",
        arguments: Self.topics)
    func topicAndTypeFit(topic: String?, type: String?, verdict: String) throws {
        var fixture = try APNsSimulatorFixture()
        let device = topic.flatMap { try? fixture.simulator.addDevice(["topic": .string($0)]) }
        let request = try fixture.request(["apns-topic": topic, "apns-push-type": type], to: device)
        #expect(try fixture.verdict(request) == verdict)
    }

    private static let topics: [(String?, String?, String)] = [
        (nil, "alert", "400 MissingTopic"), ("", "alert", "400 MissingTopic"),
        ("com.example.app", "pager", "400 InvalidPushType"), ("com.example.app", "mdm", "400 InvalidPushType"),
        ("com.example.app", "voip", "400 BadTopic"), ("com.example.app.voip", "alert", "400 BadTopic"),
        ("com example", "alert", "400 BadTopic"), ("com.other.app", "alert", "400 TopicDisallowed"),
        ("com.example.app", nil, "200 "), ("com.example.app.voip", "voip", "200 "),
        ("com.example.app.complication", "complication", "200 "),
        ("com.example.app.pushkit.fileprovider", "fileprovider", "200 "),
        ("com.example.app.location-query", "location", "200 "),
        ("com.example.app.push-type.liveactivity", "liveactivity", "200 "),
        ("com.example.app.voip-ptt", "pushtotalk", "200 "),
        ("com.example.app.push-type.widgets", "widgets", "200 "),
        ("com.example.app.push-type.controls", "controls", "200 "),
    ]

    @Test(
        "rows 19 to 21: priority, expiration, collapse id",
        arguments: Self.fields)
    func fieldsAreChecked(fields: [String: String?], verdict: String) throws {
        var fixture = try APNsSimulatorFixture()
        #expect(try fixture.verdict(fixture.request(fields)) == verdict)
    }

    private static let fields: [([String: String?], String)] = [
        (["apns-priority": "7"], "400 BadPriority"), (["apns-priority": "x"], "400 BadPriority"),
        (["apns-push-type": "background", "apns-priority": "10"], "400 BadPriority"),
        (["apns-push-type": "background", "apns-priority": "5"], "200 "), (["apns-priority": "1"], "200 "),
        (["apns-expiration": "soon"], "400 BadExpirationDate"),
        (["apns-expiration": "-1"], "400 BadExpirationDate"), (["apns-expiration": "0"], "200 "),
        (["apns-collapse-id": String(repeating: "x", count: 65)], "400 BadCollapseId"),
        (["apns-collapse-id": String(repeating: "x", count: 64)], "200 "),
    ]

    @Test(
        "rows 22 to 24: the payload",
        arguments: [
            ("alert", 0, "400 PayloadEmpty"), ("alert", 4096, "200 "), ("alert", 4097, "413 PayloadTooLarge"),
            ("voip", 5120, "200 "), ("voip", 5121, "413 PayloadTooLarge"),
        ])
    func thePayloadIsChecked(type: String, size: Int, verdict: String) throws {
        var fixture = try APNsSimulatorFixture()
        let body = size == 0 ? "" : #"{"a":"\#(String(repeating: "x", count: size - 8))"}"#
        let topic = "com.example.app" + (type == "voip" ? ".voip" : "")
        let device = try fixture.simulator.addDevice(["topic": .string(topic)])
        let request = try fixture.request(["apns-push-type": type, "apns-topic": topic], to: device, body: body)
        #expect(request.body.count == size)
        #expect(try fixture.verdict(request) == verdict)
        #expect(try fixture.verdict(fixture.request(body: "[1]")) == "400 PayloadEmpty")
        #expect(try fixture.verdict(fixture.request(body: "{nonsense")) == "400 PayloadEmpty")
    }

    @Test("row 25: the token is hexadecimal and was handed out")
    func theTokenWasHandedOut() throws {
        var fixture = try APNsSimulatorFixture()
        let bad = ["ab", String(fixture.device.dropLast()), String(repeating: "g", count: 64), APNsFixture.token]
        for token in bad {
            #expect(try fixture.verdict(fixture.request(to: token)) == "400 BadDeviceToken")
        }
        #expect(try fixture.verdict(fixture.request(to: fixture.device.uppercased())) == "200 ")
    }

    @Test("row 26: the token belongs to the topic's app")
    func theTokenBelongsToTheTopicsApp() throws {
        var fixture = try APNsSimulatorFixture()
        let other = try fixture.simulator.addDevice(["topic": "com.example.second"])
        #expect(try fixture.verdict(fixture.request(to: other)) == "400 DeviceTokenNotForTopic")
    }

    @Test("row 26: Live Activities, calls and alerts of one app have tokens of their own")
    func kindsOfPushesHaveTokensOfTheirOwn() throws {
        var fixture = try APNsSimulatorFixture()
        let activity = ["apns-topic": "com.example.app.push-type.liveactivity", "apns-push-type": "liveactivity"]
        let token = try fixture.simulator.addDevice(["topic": .string(activity["apns-topic"] ?? "")])
        #expect(try fixture.verdict(fixture.request(activity, to: token)) == "200 ")
        #expect(try fixture.verdict(fixture.request(activity)) == "400 DeviceTokenNotForTopic")
        #expect(try fixture.verdict(fixture.request(to: token)) == "400 DeviceTokenNotForTopic")
        let silent = ["apns-push-type": "background", "apns-priority": "5"]
        #expect(try fixture.verdict(fixture.request(silent)) == "200 ")
    }

    @Test("row 16: what a certificate does not prove is refused")
    func someTypesNeedAToken() throws {
        var fixture = try APNsSimulatorFixture()
        let certificate = try APNsFixture.certificate().certificate
        let connection = APNsSimulatorFixture.connection(7, certificate: certificate)
        for type in ["location", "liveactivity", "widgets", "controls"] {
            let fields = ["authorization": nil, "apns-push-type": type, "apns-topic": nil]
            #expect(try fixture.verdict(fixture.request(fields, on: connection)) == "400 InvalidPushType")
        }
        #expect(
            try fixture.verdict(fixture.request(["authorization": nil, "apns-push-type": "mdm"], on: connection))
                == "200 ")
    }

    @Test("row 27: a device without the app says since when")
    func aDeviceWithoutTheAppSaysSinceWhen() throws {
        var fixture = try APNsSimulatorFixture()
        let removed = APNsSimulatorFixture.now + .milliseconds(1234)
        let wasThere = fixture.simulator.devices.remove(fixture.device, at: removed)
        #expect(wasThere)
        let response = fixture.answer(try fixture.request(), at: removed + .seconds(9)).response
        #expect(response.status == .gone)
        #expect(
            try JSON(parsing: response.bytes)
                == ["reason": "Unregistered", "timestamp": .integer(removed.milliseconds)])
        let wasUnknown = !fixture.simulator.devices.remove(APNsFixture.token, at: removed)
        #expect(wasUnknown)
    }

    @Test("row 28: too many pushes to one device")
    func tooManyPushesToOneDevice() throws {
        var fixture = try APNsSimulatorFixture { $0.pushesPerSecond = 3 }
        for _ in 0..<3 { #expect(try fixture.verdict(fixture.request()) == "200 ") }
        #expect(try fixture.verdict(fixture.request()) == "429 TooManyRequests")
        #expect(try fixture.verdict(fixture.request(), at: APNsSimulatorFixture.now + .seconds(1)) == "200 ")
    }
}
