import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

/// The exact bytes of what the app backend sends (NotificationHubs.md, sections 14.3 to 14.5).
struct DataMessageTests {
    private static let id = NotificationID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
    private static let digits = "0123456789abcdeffedcba9876543210"

    private static let rich = DataMessage(
        texts: [.init("richId", "7"), .init("richMessage", "Look \"here\""), .init("richType", "img")], sound: "")
    private static let secure = DataMessage(texts: [.init("secureId", "7")])
    private static let sealed = DataMessage(texts: [.init("encrypted", "Zm9v")], alert: "A <message>")

    private static func platform(_ name: String) throws -> any PushPlatform.Type {
        try #require(PushPlatforms.all.named(name))
    }

    private static let raw = ["x-wns-type": "wns/raw", "x-wns-cache-policy": "cache"]
    private static let silent = ["apns-push-type": "background", "apns-priority": "5"]

    @Test(
        arguments: [
            (
                "apns",
                #"{"aps":{"content-available":1,"sound":""},"richId":"7","richMessage":"Look \"here\"","richType":"img"}"#,
                silent
            ),
            ("fcmv1", #"{"message":{"data":{"richId":"7","richMessage":"Look \"here\"","richType":"img"}}}"#, [:]),
            ("gcm", #"{"data":{"richId":"7","richMessage":"Look \"here\"","richType":"img"}}"#, [:]),
            ("adm", #"{"data":{"richId":"7","richMessage":"Look \"here\"","richType":"img"}}"#, [:]),
            ("browser", #"{"richId":"7","richMessage":"Look \"here\"","richType":"img"}"#, [:]),
            (
                "wns", #"{"richId":"7","richMessage":"Look \"here\"","richType":"img"}"#,
                raw
            ),
            (
                "mpns", #"{"richId":"7","richMessage":"Look \"here\"","richType":"img"}"#,
                ["x-notificationclass": "3"]
            ),
        ] as [(String, String, [String: String])])
    func aRichPushWakesTheAppWithItsTexts(name: String, body: String, fields: [String: String]) throws {
        try Self.expect(try Self.platform(name).message(carrying: Self.rich), body, fields)
    }

    @Test(
        arguments: [
            ("apns", #"{"aps":{"content-available":1},"secureId":"7"}"#, silent),
            ("fcmv1", #"{"message":{"data":{"secureId":"7"}}}"#, [:]), ("gcm", #"{"data":{"secureId":"7"}}"#, [:]),
            ("adm", #"{"data":{"secureId":"7"}}"#, [:]), ("browser", #"{"secureId":"7"}"#, [:]),
            ("wns", "7", raw), ("mpns", "7", ["x-notificationclass": "3"]),
        ] as [(String, String, [String: String])])
    func aSecurePushHasTheIDAlone(name: String, body: String, fields: [String: String]) throws {
        try Self.expect(try Self.platform(name).message(carrying: Self.secure), body, fields)
    }

    @Test(
        "An alert is shown by the system where the app may replace it, and handed to the app where it may not",
        arguments: [
            ("apns", #"{"aps":{"alert":"A <message>","mutable-content":1},"encrypted":"Zm9v"}"#, [:]),
            (
                "fcmv1",
                #"{"message":{"android":{"priority":"HIGH"},"data":{"encrypted":"Zm9v","message":"A <message>"}}}"#, [:]
            ),
            ("gcm", #"{"data":{"encrypted":"Zm9v","message":"A <message>"},"priority":"high"}"#, [:]),
            ("adm", #"{"data":{"encrypted":"Zm9v","message":"A <message>"},"priority":"high"}"#, [:]),
            ("browser", #"{"encrypted":"Zm9v","title":"A <message>"}"#, [:]),
            ("wns", #"{"encrypted":"Zm9v","message":"A <message>"}"#, raw),
            ("mpns", #"{"encrypted":"Zm9v","message":"A <message>"}"#, ["x-notificationclass": "3"]),
        ] as [(String, String, [String: String])])
    func anAlertMayBeReplacedByTheApp(name: String, body: String, fields: [String: String]) throws {
        try Self.expect(try Self.platform(name).message(carrying: Self.sealed), body, fields)
    }

    @Test(arguments: [
        ("apns", #"{"aps":{"alert":"a < b"},"notificationId":"\#(digits)"}"#),
        ("fcmv1", #"{"message":{"data":{"message":"a < b","notificationId":"\#(digits)"}}}"#),
        ("gcm", #"{"data":{"message":"a < b","notificationId":"\#(digits)"}}"#),
        ("adm", #"{"data":{"message":"a < b","notificationId":"\#(digits)"}}"#),
        ("browser", #"{"notificationId":"\#(digits)","title":"a < b"}"#),
        (
            "wns",
            #"<toast launch="notificationId=\#(digits)"><visual><binding template="ToastText01">"#
                + #"<text id="1">a &lt; b</text></binding></visual></toast>"#
        ),
        (
            "mpns",
            #"<?xml version="1.0" encoding="utf-8"?><wp:Notification xmlns:wp="WPNotification"><wp:Toast>"#
                + "<wp:Text1>a &lt; b</wp:Text1><wp:Param>/?notificationId=\(digits)</wp:Param></wp:Toast>"
                + "</wp:Notification>"
        ),
    ])
    func aTextCarriesItsNotificationsID(name: String, body: String) throws {
        let platform = try Self.platform(name)
        let message = try platform.message(showing: "a < b", id: Self.id)
        #expect(String(decoding: message.body, as: UTF8.self) == body)
        let plain = try platform.message(showing: "a < b")
        #expect(plain.fields == message.fields)
        #expect(!String(decoding: plain.body, as: UTF8.self).contains("notificationId"))
    }

    @Test(
        "What fits does to the byte, in base64 of what has been encrypted",
        arguments: [
            ("apns", 4096), ("fcmv1", 4096), ("gcm", 4096), ("adm", 6144), ("browser", 3993), ("wns", 5000),
            ("mpns", 1024),
        ])
    func aMessageThatIsTooLargeIsReportedBeforehand(name: String, limit: Int) throws {
        let platform = try Self.platform(name)
        func message(_ count: Int) -> DataMessage {
            DataMessage(texts: [.init("encrypted", String(repeating: "x", count: count))], alert: "A message")
        }
        func fits(_ count: Int) throws -> Bool {
            do throws(PushServiceError) {
                try platform.check(try platform.message(carrying: message(count)))
                return true
            } catch {
                #expect(error.kind == .messageTooLarge)
                return false
            }
        }
        let count = try #require(try (1...limit).last(where: fits))
        #expect(try !fits(limit))
        #expect(limit - count < 100)
    }

    @Test func everyPlatformHasAMessageForTheAppAlone() throws {
        for platform in PushPlatforms.all {
            for data in [Self.rich, Self.secure, Self.sealed] {
                try platform.check(try platform.message(carrying: data))
            }
        }
    }

    private static func expect(_ message: Message, _ body: String, _ fields: [String: String]) throws {
        #expect(String(decoding: message.body, as: UTF8.self) == body)
        #expect(message.fields == fields)
    }
}

/// What simulated devices are told of such messages.
struct DataMessageDeliveryTests {
    private static let data = DataMessage(texts: [.init("richId", "7"), .init("richType", "img")], sound: "")
    private static let texts: JSON = ["richId": "7", "richType": "img"]

    @Test func appleTakesItAsABackgroundPush() throws {
        var fixture = try APNsSimulatorFixture()
        let message = try APNs.message(carrying: Self.data)
        let headers = try APNsHeaders(message)
        #expect(headers.pushType == .background && headers.priority == .powerAware)
        let answer = fixture.answer(
            try fixture.request(
                message.fields.mapValues(Optional.some), body: String(decoding: message.body, as: UTF8.self)))
        #expect(answer.response.status == .ok)
        let delivery = try #require(fixture.simulator.devices[fixture.device]?.inbox.last)
        #expect(delivery.payload["richId"] == "7" && delivery.text == nil)
        #expect(delivery.headers["apns-push-type"] == "background" && delivery.headers["apns-priority"] == "5")
    }

    @Test func googleTakesItAsData() throws {
        var fixture = try FCMFixture()
        let token = try fixture.accessToken().value
        let handle = try fixture.device()
        let message = FCM.normalized(try FCM.message(carrying: Self.data), at: FCMFixture.now)
        let request = try #require(fixture.requests(message, to: [handle], token: token).first)
        #expect(fixture.simulator.answer(request, at: FCMFixture.now).response.status == .ok)
        let delivery = try #require(fixture.simulator.devices[handle]?.inbox.last)
        #expect(delivery.payload == ["data": Self.texts] && delivery.text == nil)
    }

    @Test func microsoftTakesItAsRaw() throws {
        var fixture = try WNSFixture()
        let handle = try fixture.channel()
        let request = try fixture.request(WNS.message(carrying: Self.data), to: handle)
        #expect(request.fields["content-type"] == "application/octet-stream")
        let answer = fixture.simulator.answer(request, at: WNSFixture.now)
        #expect(fixture.service.outcome(of: answer.response, at: WNSFixture.now).name == .success)
        let delivery = try #require(fixture.simulator.devices[handle.text]?.inbox.last)
        #expect(delivery.payload == .string(Self.texts.text) && delivery.text == nil)
        #expect(delivery.headers["x-wns-type"] == "wns/raw")
    }

    @Test func windowsPhonesTakeItAsRaw() throws {
        var fixture = try MPNSFixture()
        let handle = try fixture.simulator.addDevice([:])
        let message = MPNS.normalized(try MPNS.message(carrying: Self.data), at: MPNSFixture.now)
        var request = try MPNSFixture.request(message, to: handle, of: fixture.service)
        request.connection = HTTPConnection(id: 1, peer: "127.0.0.1", isSecure: true)
        let answer = fixture.simulator.answer(request, at: MPNSFixture.now)
        #expect(fixture.service.outcome(of: answer.response, at: MPNSFixture.now) == .accepted)
        let delivery = try #require(fixture.simulator.devices[handle]?.inbox.last)
        #expect(delivery.payload == .string(Self.texts.text) && delivery.text == nil)
        #expect(delivery.headers["x-notificationclass"] == "3")
    }

    @Test func browsersTakeItAndShowNothing() throws {
        var fixture = try WebPushFixture()
        let handle = try fixture.subscribe()
        let request = try #require(fixture.requests(WebPush.message(carrying: Self.data), to: [handle]).first)
        #expect(fixture.simulator.answer(request, at: WebPushFixture.now).response.status == .created)
        let delivery = try #require(fixture.simulator.devices[fixture.simulator.text(of: handle)]?.inbox.last)
        #expect(delivery.payload == Self.texts && delivery.text == nil)
    }

    @Test func amazonTakesItAsData() throws {
        var fixture = try ADMFixture()
        let handle = try fixture.simulator.addDevice([:])
        let message = try ADM.message(carrying: Self.data)
        let request = try fixture.request(String(decoding: message.body, as: UTF8.self), to: handle)
        #expect(fixture.simulator.answer(request, at: ADMFixture.now).response.status == .ok)
        let delivery = try #require(fixture.simulator.devices[handle]?.inbox.last)
        #expect(delivery.payload == ["data": Self.texts] && delivery.text == nil)
    }
}
