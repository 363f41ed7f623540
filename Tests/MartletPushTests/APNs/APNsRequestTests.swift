import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct APNsRequestTests {
    private static let expiry = APNsFixture.now + .seconds(86_400)

    private func shared(
        _ body: String = #"{"aps":{"alert":"hello"}}"#, _ fields: [String: String] = [:]
    ) throws -> RequestBatch.Shared {
        try APNsFixture.service().shared(
            APNsFixture.message(body, fields), token: "jwt", expiry: Self.expiry, at: APNsFixture.now)
    }

    @Test func aPlainAlertHasAllFieldsThatTheServiceWants() throws {
        let shared = try shared()
        #expect(
            Array(shared.fields) == [
                HTTPField("authorization", "bearer jwt", indexing: .never), HTTPField("apns-topic", "com.example.app"),
                HTTPField("apns-push-type", "alert"), HTTPField("apns-priority", "10"),
                HTTPField("apns-expiration", "1700086400", indexing: .never),
            ])
        #expect(shared.method == .post)
        #expect(shared.pathPrefix == "/3/device/")
        #expect(shared.itemFieldNames == ["apns-id"])
        #expect(shared.body == APNsFixture.alert)
        #expect(shared.settings.version == .http2)
        #expect(shared.settings.partition == "DEF123GHIJ/ABC123DEFG")
    }

    @Test func eachDeviceIsAddedByItsTokenInLowerCaseAndItsOwnID() throws {
        let service = try APNsFixture.service()
        let message = APNsFixture.message()
        var batch = RequestBatch(try service.shared(message, token: "jwt", expiry: Self.expiry, at: APNsFixture.now))
        let id = MessageID(high: 0x1b4e_28ba_2fa1_81d2, low: 0x883f_0016_d3cc_a427)
        try Array(APNsFixture.token.uppercased().utf8).withUnsafeBufferPointer {
            try service.append($0, id: id, message: message, to: &batch)
        }
        #expect(batch.count == 1)
        #expect(batch.withPath(0) { String(decoding: $0, as: UTF8.self) } == APNsFixture.token)
        #expect(batch.withValue(0, of: 0) { String(decoding: $0, as: UTF8.self) } == id.description)
        #expect(batch.withBody(0) { Array($0) } == APNsFixture.alert)
    }

    @Test(arguments: [
        ("alert", "com.example.app", "10"), ("background", "com.example.app", "5"),
        ("voip", "com.example.app.voip", "10"), ("complication", "com.example.app.complication", "10"),
        ("fileprovider", "com.example.app.pushkit.fileprovider", "10"),
        ("location", "com.example.app.location-query", "10"),
        ("liveactivity", "com.example.app.push-type.liveactivity", "10"),
        ("pushtotalk", "com.example.app.voip-ptt", "10"), ("widgets", "com.example.app.push-type.widgets", "10"),
        ("controls", "com.example.app.push-type.controls", "10"),
    ])
    func everyPushTypeHasItsTopicAndPriority(type: String, topic: String, priority: String) throws {
        let fields = try shared("{}", ["apns-push-type": type]).fields
        #expect(fields["apns-push-type"] == type)
        #expect(fields["apns-topic"] == topic)
        #expect(fields["apns-priority"] == priority)
    }

    @Test func deviceManagementNeedsACertificate() throws {
        let message = APNsFixture.message(#"{"mdm":"magic"}"#, ["apns-push-type": "mdm"])
        let shared = try APNsFixture.certificateService().shared(
            message, token: nil, expiry: Self.expiry, at: APNsFixture.now)
        #expect(shared.fields["apns-topic"] == "com.example.app")
        #expect(throws: PushServiceError.self) {
            try APNsFixture.service().shared(message, token: "jwt", expiry: Self.expiry, at: APNsFixture.now)
        }
    }

    @Test(arguments: ["location", "liveactivity", "widgets", "controls"])
    func someTypesNeedAToken(type: String) throws {
        let service = try APNsFixture.certificateService()
        let error = try #require(throws: PushServiceError.self) {
            try service.shared(
                APNsFixture.message("{}", ["apns-push-type": type]), token: nil, expiry: Self.expiry,
                at: APNsFixture.now)
        }
        #expect(error.kind == .badMessage)
    }

    @Test(arguments: [
        (#"{"aps":{"content-available":1}}"#, "background", "5"),
        (#"{"aps":{"content\u002Davailable":1}}"#, "background", "5"),
        (#"{"aps":{"content-available":1},"secureId":"1"}"#, "background", "5"),
        (#"{"aps":{"content-available":true}}"#, "background", "5"),
        (#"{"aps":{"content-available":1,"sound":""}}"#, "alert", "10"),
        (#"{"aps":{"content-available":1,"badge":3}}"#, "alert", "10"),
        (#"{"aps":{"content-available":1,"alert":"x"}}"#, "alert", "10"),
        (#"{"aps":{"content-available":0}}"#, "alert", "10"), (#"{"aps":{}}"#, "alert", "10"), ("{}", "alert", "10"),
    ])
    func aMissingPushTypeFollowsFromThePayload(body: String, type: String, priority: String) throws {
        let fields = try shared(body).fields
        #expect(fields["apns-push-type"] == type)
        #expect(fields["apns-priority"] == priority)
    }

    @Test func aStatedTopicTellsThePushTypeToo() throws {
        let fields = try shared("{}", ["apns-topic": "com.example.other.voip"]).fields
        #expect(fields["apns-push-type"] == "voip")
        #expect(fields["apns-topic"] == "com.example.other.voip")
    }

    @Test func statedFieldsAreKeptUnderBothOfTheirNames() throws {
        for prefix in ["apns-", "x-apns-"] {
            let fields = try shared(
                "{}",
                [
                    prefix + "push-type": "alert", prefix + "priority": "1", prefix + "expiration": "0",
                    prefix + "collapse-id": "score", prefix + "topic": "com.example.other",
                ]
            ).fields
            #expect(fields["apns-priority"] == "1")
            #expect(fields["apns-expiration"] == "0")
            #expect(fields["apns-collapse-id"] == "score")
            #expect(fields["apns-topic"] == "com.example.other")
        }
    }

    @Test func aBackgroundPushNeverGoesOutWithPriorityTen() throws {
        let silent = #"{"aps":{"content-available":1}}"#
        #expect(try shared(silent, ["apns-priority": "10"]).fields["apns-priority"] == "5")
        #expect(throws: PushServiceError.self) {
            try shared(silent, ["apns-push-type": "background", "apns-priority": "10"])
        }
    }

    @Test func pushToTalkIsNotStored() throws {
        #expect(try shared("{}", ["apns-push-type": "pushtotalk"]).fields["apns-expiration"] == "0")
    }

    @Test(arguments: [
        ("0", "0"), ("1700000000", "1700000000"), ("2023-11-14T22:13:20Z", "1700000000"),
        ("11/14/2023 22:13:20", "1700000000"), ("2023-11-14T22:13:20.5+00:00", "1700000000"),
        ("next week", "1700086400"), ("13/45/2023 99:00:00", "1700086400"), ("", "1700086400"), ("-5", "1700086400"),
    ])
    func theHubsExpiryIsReadInEveryForm(text: String, seconds: String) throws {
        let fields = try shared("{}", ["servicebusnotification-apns-expiry": text]).fields
        #expect(fields["apns-expiration"] == seconds)
    }

    @Test(arguments: [
        ("apns-push-type", "pager"), ("apns-priority", "7"), ("apns-priority", "high"), ("apns-expiration", "soon"),
        ("apns-expiration", "-1"), ("apns-expiration", "1.5"),
        ("apns-collapse-id", String(repeating: "x", count: 65)), ("apns-collapse-id", "a\nb"),
        ("apns-topic", "a b"), ("apns-topic", String(repeating: "x", count: 256)),
    ])
    func aFieldThatTheServiceWouldRefuseIsRefusedBeforehand(name: String, value: String) throws {
        let message = APNsFixture.message("{}", [name: value])
        let error = try #require(throws: PushServiceError.self) { try APNs.check(message) }
        #expect(error.kind == .badMessage)
        #expect(error.description.contains(name))
    }

    @Test func aTopicMustFitItsPushType() {
        for (topic, type) in [("com.example.app", "voip"), ("com.example.app.voip", "alert")] {
            let message = APNsFixture.message("{}", ["apns-topic": topic, "apns-push-type": type])
            #expect(throws: PushServiceError.self, "\(topic) \(type)") { try APNs.check(message) }
        }
    }

    @Test func sixtyFourBytesOfCollapseIDAreEnough() throws {
        let id = String(repeating: "é", count: 32)
        #expect(try shared("{}", ["apns-collapse-id": id]).fields["apns-collapse-id"] == id)
    }
}
