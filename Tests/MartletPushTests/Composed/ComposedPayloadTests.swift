import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

/// The exact bytes of composed messages on each platform, which the services and apps of today read.
struct ComposedPayloadTests {
    private static let id = NotificationID(high: 0x018f_0000_0000_0000, low: 1)
    private static let plain = #"{"title": "Sale", "text": "Half & <half>"}"#
    private static let silent = #"{"silent": true, "data": {"sale": "17"}, "collapse": "k"}"#
    private static let whole = """
        {"title": "Sale", "subtitle": "Today", "text": "Half price", "link": "https://shop.example/?a=1&b=2",
        "picture": "https://shop.example/p.jpg", "sound": "ding.caf", "badge": 3, "data": {"sale": "1&7"},
        "actions": [{"id": "buy", "title": "Buy", "link": "https://shop.example/buy"}], "priority": "high",
        "thread": "sales", "collapse": "sale"}
        """

    private func message(_ text: String, _ platform: any PushPlatform.Type) throws -> Message {
        let composed = try ComposedMessage(parsing: Array(text.utf8)).localized(in: nil)
        let rendered = platform.message(composed: composed, id: Self.id)
        let normalized = platform.normalized(try #require(rendered), at: Timestamp(seconds: 0))
        try platform.check(normalized)
        return normalized
    }

    private func text(_ message: Message) -> String { String(decoding: message.body, as: UTF8.self) }

    private static let number = "018f0000000000000000000000000001"

    @Test func apns() throws {
        let plain = try message(Self.plain, APNs.self)
        #expect(
            text(plain)
                == #"{"aps":{"alert":{"body":"Half & <half>","title":"Sale"}},"notificationId":"\#(Self.number)"}"#)
        #expect(plain.fields.isEmpty)
        let whole = try message(Self.whole, APNs.self)
        #expect(
            text(whole)
                == #"{"actions":[{"id":"buy","link":"https://shop.example/buy","title":"Buy"}],"aps":{"alert":{"body":"Half price","subtitle":"Today","title":"Sale"},"badge":3,"category":"martlet-a9437c26","interruption-level":"time-sensitive","mutable-content":1,"sound":"ding.caf","thread-id":"sales"},"link":"https://shop.example/?a=1&b=2","notificationId":"\#(Self.number)","picture":"https://shop.example/p.jpg","sale":"1&7"}"#
        )
        #expect(whole.fields == ["apns-collapse-id": "sale", "apns-priority": "10"])
        let silent = try message(Self.silent, APNs.self)
        #expect(text(silent) == #"{"aps":{"content-available":1},"notificationId":"\#(Self.number)","sale":"17"}"#)
        #expect(
            silent.fields == ["apns-collapse-id": "k", "apns-priority": "5", "apns-push-type": "background"])
    }

    @Test func fcm() throws {
        #expect(
            text(try message(Self.plain, FCM.self))
                == #"{"message":{"data":{"notificationId":"\#(Self.number)"},"notification":{"body":"Half & <half>","title":"Sale"}}}"#
        )
        #expect(
            text(try message(Self.whole, FCM.self))
                == #"{"message":{"android":{"collapse_key":"sale","notification":{"notification_count":3,"sound":"ding.caf","tag":"sale"},"priority":"HIGH"},"data":{"actions":"[{\"id\":\"buy\",\"link\":\"https://shop.example/buy\",\"title\":\"Buy\"}]","link":"https://shop.example/?a=1&b=2","notificationId":"\#(Self.number)","sale":"1&7","subtitle":"Today"},"notification":{"body":"Half price","image":"https://shop.example/p.jpg","title":"Sale"}}}"#
        )
        #expect(
            text(try message(Self.silent, FCM.self))
                == #"{"message":{"android":{"collapse_key":"k"},"data":{"notificationId":"\#(Self.number)","sale":"17"}}}"#
        )
        #expect(FCM.collapseKey(of: try message(Self.whole, FCM.self)) == #"["sale","",""]"#)
    }

    @Test func legacyFCM() throws {
        #expect(
            text(try message(Self.whole, LegacyFCM.self))
                == #"{"message":{"android":{"collapse_key":"sale","notification":{"sound":"ding.caf","tag":"sale"},"priority":"HIGH"},"apns":{"headers":{"apns-collapse-id":"sale","apns-priority":"10"},"payload":{"aps":{"sound":"ding.caf"}}},"data":{"actions":"[{\"id\":\"buy\",\"link\":\"https://shop.example/buy\",\"title\":\"Buy\"}]","badge":"3","link":"https://shop.example/?a=1&b=2","notificationId":"\#(Self.number)","sale":"1&7","subtitle":"Today"},"notification":{"body":"Half price","image":"https://shop.example/p.jpg","title":"Sale"}}}"#
        )
    }

    @Test func webPush() throws {
        #expect(
            text(try message(Self.plain, WebPush.self))
                == #"{"body":"Half & <half>","notificationId":"\#(Self.number)","title":"Sale"}"#)
        let whole = try message(Self.whole, WebPush.self)
        #expect(
            text(whole)
                == #"{"actions":[{"action":"buy","title":"Buy"}],"body":"Half price","data":{"badge":3,"link":"https://shop.example/?a=1&b=2","links":{"buy":"https://shop.example/buy"},"sale":"1&7","subtitle":"Today"},"image":"https://shop.example/p.jpg","notificationId":"\#(Self.number)","tag":"sale","title":"Sale"}"#
        )
        #expect(whole.fields == ["topic": "sale", "urgency": "high"])
        #expect(
            text(try message(Self.silent, WebPush.self))
                == #"{"data":{"sale":"17"},"notificationId":"\#(Self.number)"}"#)
        let key = #"{"text": "x", "collapse": "a/b", "sound": "none"}"#
        let other = try message(key, WebPush.self)
        #expect(other.fields["topic"]?.utf8.count == 32)
        #expect(text(other).contains(#""silent":true"#))
    }

    @Test func wns() throws {
        #expect(
            text(try message(Self.plain, WNS.self))
                == #"<toast launch="notificationId=\#(Self.number)"><visual><binding template="ToastGeneric"><text>Sale</text><text>Half &amp; &lt;half&gt;</text></binding></visual></toast>"#
        )
        let whole = try message(Self.whole, WNS.self)
        #expect(
            text(whole)
                == #"<toast launch="notificationId=\#(Self.number)&amp;link=https%3A%2F%2Fshop.example%2F%3Fa%3D1%26b%3D2&amp;badge=3&amp;sale=1%267"><visual><binding template="ToastGeneric"><text>Sale</text><text>Today</text><text>Half price</text><image placement="hero" src="https://shop.example/p.jpg"/></binding></visual><actions><action content="Buy" arguments="action=buy&amp;link=https%3A%2F%2Fshop.example%2Fbuy"/></actions><audio src="ms-appx:///ding.caf"/></toast>"#
        )
        #expect(whole.fields == ["x-wns-group": "sales", "x-wns-tag": "sale", "x-wns-type": "wns/toast"])
        let silent = try message(Self.silent, WNS.self)
        #expect(text(silent) == #"{"notificationId":"\#(Self.number)","sale":"17"}"#)
        #expect(silent.fields["x-wns-type"] == "wns/raw")
    }

    @Test func mpns() throws {
        #expect(
            text(try message(Self.whole, MPNS.self))
                == #"<?xml version="1.0" encoding="utf-8"?><wp:Notification xmlns:wp="WPNotification"><wp:Toast><wp:Text1>Sale</wp:Text1><wp:Text2>Half price</wp:Text2><wp:Param>/?notificationId=\#(Self.number)&amp;link=https%3A%2F%2Fshop.example%2F%3Fa%3D1%26b%3D2&amp;badge=3&amp;sale=1%267</wp:Param></wp:Toast></wp:Notification>"#
        )
        #expect(text(try message(Self.silent, MPNS.self)) == #"{"notificationId":"\#(Self.number)","sale":"17"}"#)
    }

    @Test func adm() throws {
        #expect(
            text(try message(Self.plain, ADM.self))
                == #"{"data":{"message":"Half & <half>","notificationId":"\#(Self.number)","title":"Sale"}}"#)
        #expect(
            text(try message(Self.whole, ADM.self))
                == #"{"consolidationKey":"sale","data":{"actions":"[{\"id\":\"buy\",\"link\":\"https://shop.example/buy\",\"title\":\"Buy\"}]","badge":"3","link":"https://shop.example/?a=1&b=2","message":"Half price","notificationId":"\#(Self.number)","picture":"https://shop.example/p.jpg","sale":"1&7","sound":"ding.caf","subtitle":"Today","title":"Sale"},"priority":"high"}"#
        )
    }

    /// The limits of PushServices.md, sections 1.4, 3.3, 5.2 and 6.2.
    @Test(arguments: ["k", "k/", "~"])
    func theLongestKeysFitTheLimitsOfEveryPlatform(unit: String) throws {
        let key = String(String(repeating: unit, count: 64).prefix(64))
        for rest in [#""title": "Sale", "thread": "\#(key)""#, #""silent": true"#] {
            let text = #"{"collapse": "\#(key)", \#(rest)}"#
            #expect(try message(text, APNs.self).fields["apns-collapse-id"] == key, "at most 64 bytes")
            #expect(FCM.collapseKey(of: try message(text, FCM.self))?.contains(key.prefix(2)) == true)
            #expect(LegacyFCM.collapseKey(of: try message(text, LegacyFCM.self)) != nil)
            #expect(ADM.collapseKey(of: try message(text, ADM.self)) == key, "at most 64 characters")
            #expect(try message(text, WebPush.self).fields["topic"].map(WebPushHeaders.isTopic) == true)
            #expect(try message(text, MPNS.self).fields.keys.allSatisfy { !$0.contains("tag") })
            let windows = try message(text, WNS.self)
            #expect(windows.fields["x-wns-tag"]?.utf8.count == 16)
            #expect([nil, 16].contains(windows.fields["x-wns-group"]?.utf8.count))
            var fixture = try WNSFixture()
            let request = try fixture.request(windows, to: try fixture.channel())
            #expect(fixture.simulator.answer(request, at: WNSFixture.now).response.status == .ok)
        }
    }

    @Test func longKeysThatDifferStayDifferentForWindows() throws {
        func tag(_ end: String) throws -> String? {
            let key = String(repeating: "k", count: 60) + end
            return try message(#"{"text": "x", "collapse": "\#(key)"}"#, WNS.self).fields["x-wns-tag"]
        }
        #expect(try tag("a") == tag("a"))
        #expect(try tag("a") != tag("b"))
        let short = try message(#"{"text": "x", "collapse": "0123456789abcdef"}"#, WNS.self)
        #expect(short.fields["x-wns-tag"] == "0123456789abcdef")
    }

    @Test func aKeyWithOtherLettersReachesNoPlatform() {
        for member in ["thread", "collapse"] {
            let key = String(repeating: "é", count: 64)
            #expect(throws: ComposedMessageError.self) {
                try ComposedMessage(parsing: Array(#"{"text": "x", "\#(member)": "\#(key)"}"#.utf8))
            }
        }
    }

    @Test func aPlatformWithoutAPushServiceHasNone() throws {
        let composed = try ComposedMessage(parsing: Array(Self.plain.utf8)).localized(in: nil)
        #expect(Baidu.message(composed: composed, id: Self.id) == nil)
        #expect(Xiaomi.message(composed: composed, id: Self.id) == nil)
    }
}
