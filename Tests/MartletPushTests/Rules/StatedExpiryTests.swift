import MartletCore
import MartletModel
import Testing

@testable import MartletPush

/// How push services are told of an expiry that a sender has stated.
struct StatedExpiryTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private func limited(
        _ platform: any PushPlatform.Type, _ body: String, _ fields: [String: String] = [:],
        after duration: Duration = .seconds(90)
    ) throws -> Message {
        let message = platform.normalized(Message(body: Array(body.utf8), fields: fields), at: Self.now)
        let limited = platform.limited(message, to: Self.now + duration, at: Self.now)
        try platform.check(limited)
        return limited
    }

    private func content(_ body: String, after duration: Duration = .seconds(90)) throws -> JSON? {
        let message = try limited(FCM.self, body, after: duration)
        #expect(FCMMessage.isCanonical(message.body))
        return try JSON(parsing: message.body)["message"]
    }

    @Test func fcmIsToldForEachKindOfDevice() throws {
        let plain = try content(#"{"message":{"data":{"a":"1"}},"validate_only":true}"#)
        #expect(plain?["android"] == ["ttl": "90s"])
        #expect(plain?["apns"]?["headers"] == ["apns-expiration": "1800000090"])
        #expect(plain?["webpush"]?["headers"] == ["TTL": "90"])
        #expect(plain?["data"] == ["a": "1"])
    }

    @Test func whatTheSenderHasSetHimselfStays() throws {
        let own = try content(
            #"{"message":{"android":{"ttl":"5s","priority":"HIGH"},"apns":{"headers":{"Apns-Expiration":"7"}},"#
                + #""webpush":{"headers":{"ttl":"9","Topic":"t"}}}}"#)
        #expect(own?["android"] == ["ttl": "5s", "priority": "HIGH"])
        #expect(own?["apns"]?["headers"] == ["Apns-Expiration": "7"])
        #expect(own?["webpush"]?["headers"] == ["ttl": "9", "Topic": "t"])
        #expect(try limited(WNS.self, "<toast/>", ["x-wns-ttl": "5"]).fields["x-wns-ttl"] == "5")
        let message = try limited(ADM.self, #"{"data":{},"expiresAfter":5}"#)
        #expect(try JSON(parsing: message.body)["expiresAfter"] == 5)
    }

    @Test func noneIsToldMoreThanItTakes() throws {
        #expect(try content(#"{"message":{}}"#, after: .seconds(28 * 86_400))?["android"] == ["ttl": "2419200s"])
        #expect(try content(#"{"message":{}}"#, after: .milliseconds(900))?["android"] == ["ttl": "0s"])
        let adm = try limited(ADM.self, #"{"data":{}}"#, after: .milliseconds(900))
        #expect(try JSON(parsing: adm.body)["expiresAfter"] == 1)
    }

    @Test func wnsIsToldWithAField() throws {
        #expect(try limited(WNS.self, "<toast/>").fields["x-wns-ttl"] == "90")
        #expect(try limited(WNS.self, "<toast/>", ["x-wns-ttl": ""]).fields["x-wns-ttl"] == "90")
    }

    @Test func aMessageForADMThatHasNoRoomForItStaysAsItIs() throws {
        let text = String(repeating: "a", count: ADM.descriptor.payloadLimit - 20)
        let message = try limited(ADM.self, #"{"data":{"text":""# + text + #""}}"#)
        #expect(message.body.count <= ADM.descriptor.payloadLimit)
        #expect(try JSON(parsing: message.body)["expiresAfter"] == nil)
    }

    @Test func servicesThatAreToldATimeAnywayAreToldNothingMore() throws {
        let alert = #"{"aps":{"alert":"a"}}"#
        #expect(try limited(APNs.self, alert).fields["apns-expiration"] == nil)
        #expect(try limited(WebPush.self, "hi").fields["ttl"] == nil)
    }
}
