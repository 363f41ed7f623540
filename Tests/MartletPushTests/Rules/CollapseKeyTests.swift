import MartletCore
import MartletModel
import Testing

@testable import MartletPush

/// What later messages of each platform have to have in common with earlier ones to take their place.
struct CollapseKeyTests {
    private func key(
        _ platform: any PushPlatform.Type, _ body: String, _ fields: [String: String] = [:]
    ) -> String? {
        let message = Message(body: Array(body.utf8), fields: fields)
        return platform.collapseKey(of: platform.normalized(message, at: Timestamp(seconds: 1_800_000_000)))
    }

    @Test func theCollapseKeyOfAPNsIsTheCollapseIDWithinATopic() {
        let alert = #"{"aps":{"alert":"a"}}"#
        #expect(key(APNs.self, alert) == nil)
        #expect(key(APNs.self, alert, ["apns-collapse-id": ""]) == nil)
        let game = key(APNs.self, alert, ["apns-collapse-id": "game"])
        #expect(game != nil)
        #expect(key(APNs.self, #"{"aps":{"badge":1}}"#, ["x-apns-collapse-id": "game"]) == game)
        #expect(key(APNs.self, alert, ["apns-collapse-id": "other"]) != game)
        #expect(key(APNs.self, alert, ["apns-collapse-id": "game", "apns-topic": "app.voip"]) != game)
    }

    @Test func theCollapseKeyOfFCMCombinesAllKindsOfDevices() {
        #expect(key(FCM.self, #"{"message":{"data":{"collapse_key":"k"}}}"#) == nil)
        let plain = key(FCM.self, #"{"message":{"data":{"a":"1"},"android":{"collapse_key":"k"}}}"#)
        #expect(plain != nil)
        #expect(key(FCM.self, #"{"android":{"collapse_key":"k","priority":"HIGH"}}"#) == plain)
        #expect(key(FCM.self, #"{"message":{"android":{"collapse_key":"l"}}}"#) != plain)
        let apple = #"{"message":{"android":{"collapse_key":"k"},"apns":{"headers":{"apns-collapse-id":"a"}}}}"#
        #expect(![nil, plain].contains(key(FCM.self, apple)))
        #expect(key(FCM.self, #"{"message":{"apns":{"headers":{"apns-collapse-id":"a"}}}}"#) == nil)
    }

    @Test func theCollapseKeyOfTheOldAPIIsThatOfItsTranslation() {
        let old = key(LegacyFCM.self, #"{"data":{"a":"1"},"collapse_key":"k"}"#)
        #expect(old != nil)
        #expect(old == key(FCM.self, #"{"message":{"data":{"b":"2"},"android":{"collapse_key":"k"}}}"#))
        #expect(key(LegacyFCM.self, #"{"data":{"a":"1"}}"#) == nil)
    }

    @Test func theCollapseKeyOfABrowserIsTheTopic() {
        #expect(key(WebPush.self, "hi") == nil)
        #expect(key(WebPush.self, "hi", ["topic": "news"]) == "news")
        #expect(key(WebPush.self, "hi", ["servicebusnotification-topic": "news"]) == "news")
    }

    @Test func theCollapseKeyOfWNSIsTheTagInItsGroupByType() {
        let toast = "<toast/>"
        #expect(key(WNS.self, toast) == nil)
        #expect(key(WNS.self, toast, ["x-wns-group": "g"]) == nil)
        let tag = key(WNS.self, toast, ["x-wns-tag": "t"])
        #expect(tag != nil)
        #expect(key(WNS.self, toast, ["x-wns-tag": "t", "x-wns-type": "WNS/Toast"]) == tag)
        #expect(key(WNS.self, "<tile/>", ["x-wns-tag": "t"]) != tag)
        #expect(key(WNS.self, toast, ["x-wns-tag": "t", "x-wns-group": "g"]) != tag)
    }

    @Test func theCollapseKeyOfADMIsTheConsolidationKey() {
        #expect(key(ADM.self, #"{"data":{"consolidationKey":"k"}}"#) == nil)
        #expect(key(ADM.self, #"{"data":{},"consolidationKey":"k"}"#) == "k")
        #expect(key(ADM.self, #"{"data":{},"consolidationKey":""}"#) == nil)
    }

    @Test func mpnsHasNone() {
        #expect(key(MPNS.self, "<a/>", ["x-windowsphone-target": "toast"]) == nil)
    }
}
