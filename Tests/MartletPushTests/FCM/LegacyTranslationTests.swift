import MartletCore
import MartletModel
import Testing

@testable import MartletPush

struct LegacyTranslationTests {
    private static let now = Timestamp(seconds: 1_700_000_000)

    private func translated(_ text: String) throws -> JSON {
        let message = LegacyFCM.normalized(Message(body: Array(text.utf8)), at: Self.now)
        #expect(LegacyFCM.normalized(message, at: Self.now + .seconds(5)).body == message.body, "twice is as good")
        return try JSON(parsing: message.body)
    }

    private func dropped(_ text: String) -> [String] {
        LegacyFCM.dropped(from: Message(body: Array(text.utf8)))
    }

    @Test func theExampleOfTheDocumentComesOutAsThere() throws {
        let sent =
            #"{"data":{"message":"Hi","n":3,"o":{"a":1}},"notification":{"title":"T","android_channel_id":"c1"},"#
            + #""priority":"high","time_to_live":60,"collapse_key":"k"}"#
        let expected =
            #"{"message":{"data":{"message":"Hi","n":"3","o":"{\"a\":1}"},"notification":{"title":"T"},"#
            + #""android":{"priority":"HIGH","ttl":"60s","collapse_key":"k","notification":{"channel_id":"c1"}}}}"#
        #expect(try translated(sent) == JSON(parsing: Array(expected.utf8)))
        #expect(dropped(sent).isEmpty)
    }

    @Test func valuesOfDataBecomeTexts() throws {
        let sent = #"{"data":{"a":"x","b":true,"c":1.5,"d":[1,"y"],"e":null,"f":{}}}"#
        #expect(
            try translated(sent) == [
                "message": ["data": ["a": "x", "b": "true", "c": "1.5", "d": #"[1,"y"]"#, "f": "{}"]]
            ])
        #expect(dropped(sent) == ["data.e"])
    }

    @Test func membersOfANotificationMoveToTheirPlaceInTheNewAPI() throws {
        let sent =
            ##"{"notification":{"title":"T","body":"B","image":"I","icon":"i","tag":"t","color":"#aabbcc","##
            + #""click_action":"c","title_loc_key":"k","title_loc_args":"[\"x\",1]","body_loc_args":["y"],"#
            + #""android_channel_id":7}}"#
        #expect(
            try translated(sent) == [
                "message": [
                    "notification": ["title": "T", "body": "B", "image": "I"],
                    "android": [
                        "notification": [
                            "icon": "i", "tag": "t", "color": "#aabbcc", "click_action": "c", "title_loc_key": "k",
                            "title_loc_args": ["x", "1"], "body_loc_args": ["y"], "channel_id": "7",
                        ]
                    ],
                ]
            ])
    }

    @Test func appleDevicesGetWhatOnlyTheyKnow() throws {
        let sent =
            #"{"notification":{"title":"T","body":"B","subtitle":"S","badge":"3","sound":"ding"},"priority":"high","#
            + #""time_to_live":60,"collapse_key":"k","content_available":true,"mutable_content":1}"#
        #expect(
            try translated(sent)["message"]?["apns"] == [
                "headers": ["apns-priority": "10", "apns-expiration": "1700000060", "apns-collapse-id": "k"],
                "payload": [
                    "aps": [
                        "alert": ["title": "T", "body": "B", "subtitle": "S"], "badge": 3, "sound": "ding",
                        "content-available": 1, "mutable-content": 1,
                    ]
                ],
            ])
        #expect(dropped(sent).isEmpty)
    }

    @Test func whatHasNoPlaceIsNamed() throws {
        let sent =
            #"{"to":"t","registration_ids":["a"],"notification_key":"n","condition":"c","delay_while_idle":true,"#
            + #""priority":"soon","time_to_live":"later","nonsense":1,"collapse_key":[],"dry_run":"perhaps","#
            + #""notification":{"title":{},"badge":"x","fancy":1}}"#
        #expect(try translated(sent) == ["message": [:]])
        #expect(
            dropped(sent) == [
                "collapse_key", "condition", "delay_while_idle", "dry_run", "nonsense", "notification.badge",
                "notification.fancy", "notification.title", "notification_key", "priority", "registration_ids",
                "time_to_live", "to",
            ])
    }

    @Test func aDryRunOfTheOldAPIIsValidateOnly() throws {
        #expect(
            try translated(#"{"dry_run":true,"data":{"a":"b"},"restricted_package_name":"p","direct_boot_ok":true}"#)
                == [
                    "validate_only": true,
                    "message": [
                        "data": ["a": "b"], "android": ["restricted_package_name": "p", "direct_boot_ok": true],
                    ],
                ])
    }

    @Test func aMessageOfTheNewServiceStaysOne() throws {
        let sent = #"{"message":{"token":"x","android":{"priority":"HIGH"}}}"#
        #expect(try translated(sent) == ["message": ["android": ["priority": "HIGH"]]])
        #expect(dropped(sent) == ["token"])
    }

    @Test(arguments: [
        #"{"data":{"from":"x"}}"#, #"{"data":{"google.a":"x"}}"#, #"{"data":[]}"#, #"{"notification":"x"}"#,
        #"{"time_to_live":2419201}"#, #"{"time_to_live":-1}"#, "hello", "[]",
    ])
    func payloadsThatTheNewServiceWouldRefuseAreRefused(sent: String) {
        let error = #expect(throws: PushServiceError.self) { try LegacyFCM.check(FCMFixture.message(sent)) }
        #expect(error?.kind == .badMessage)
    }
}
