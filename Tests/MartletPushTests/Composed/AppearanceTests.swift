import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPush

/// What is read back from payloads: of composed messages what they said, of any others what a device would show.
struct AppearanceTests {
    private static let platforms: [any PushPlatform.Type] = [
        APNs.self, FCM.self, LegacyFCM.self, WebPush.self, WNS.self, MPNS.self, ADM.self,
    ]

    private func appearance(
        _ text: String, on platform: any PushPlatform.Type, fields: [String: String] = [:]
    ) -> Appearance? {
        platform.appearance(
            of: platform.normalized(
                Message(body: Array(text.utf8), fields: fields), at: Timestamp(seconds: 0)))
    }

    private func rendered(_ message: LocalizedMessage, on platform: any PushPlatform.Type) throws -> Message {
        let rendered = platform.message(composed: message, id: NotificationID(high: 1, low: 2))
        return platform.normalized(try #require(rendered), at: Timestamp(seconds: 0))
    }

    @Test func tenThousandRenderedMessagesAreReadBack() throws {
        var random = SeededGenerator(seed: 22)
        for number in 0..<10_000 {
            let message = RandomMessage.make(using: &random)
            for platform in [Self.platforms[number % Self.platforms.count]] {
                let normalized = try rendered(message, on: platform)
                let read = platform.appearance(of: normalized)
                let found = try #require(read, "\(number) on \(platform)")
                guard !message.isSilent else {
                    try #require(found.isSilent && found.title == nil && found.text == nil, "\(number) on \(platform)")
                    continue
                }
                let isSame = found.title == message.title && found.text == message.text
                try #require(isSame, "\(number) on \(platform): \(String(decoding: normalized.body, as: UTF8.self))")
                try #require(found.link == message.link, "\(number) on \(platform)")
                guard platform.descriptor.platform != MPNS.descriptor.platform else { continue }
                try #require(found.subtitle == message.subtitle, "\(number) on \(platform)")
                try #require(found.picture == message.picture, "\(number) on \(platform)")
                try #require(found.actions == message.actions.map(\.title), "\(number) on \(platform)")
                switch message.badge {
                case .increment?: try #require(found.badgeStep == 1, "\(number) on \(platform)")
                case .number(let count)?: try #require(found.badge == count, "\(number) on \(platform)")
                case nil: try #require(found.badge == nil && found.badgeStep == nil, "\(number) on \(platform)")
                }
            }
        }
    }

    @Test func handWrittenPayloadsHaveAnAppearanceToo() throws {
        let alert = try #require(
            appearance(#"{"aps":{"alert":"Hi","badge":2,"sound":{"name":"a.caf"}}}"#, on: APNs.self))
        #expect(alert == Appearance(text: "Hi", badge: 2, sound: "a.caf", shownBy: .system, textLines: 4))
        #expect(appearance(#"{"aps":{"content-available":1}}"#, on: APNs.self)?.isSilent == true)
        let data = try #require(appearance(#"{"data":{"message":"Hi"}}"#, on: FCM.self))
        #expect(data == Appearance(text: "Hi", shownBy: .app))
        let old = try #require(
            appearance(#"{"notification":{"title":"T","body":"B","badge":"4"},"data":{}}"#, on: LegacyFCM.self))
        #expect(old.title == "T" && old.text == "B" && old.shownBy == .system)
        let toast =
            #"<toast><visual><binding template="ToastText01"><text id="1">A &amp; B</text></binding></visual></toast>"#
        #expect(appearance(toast, on: WNS.self)?.text == "A & B")
        #expect(appearance(#"<badge value="7"/>"#, on: WNS.self)?.badge == 7)
        #expect(appearance("anything", on: WNS.self, fields: ["x-wns-type": "wns/raw"])?.isSilent == true)
        #expect(appearance(#"{"data":{"title":"T"}}"#, on: ADM.self)?.shownBy == .app)
    }

    @Test func anUndeterminedAppearanceIsNil() {
        for (text, platform) in [
            ("", APNs.self), ("[]", APNs.self), (#"{"a":1}"#, APNs.self),
            (#"{"aps":{"alert":{"loc-key":"K"}}}"#, APNs.self),
            (#"{"aps":{"event":"update","timestamp":1,"content-state":{}}}"#, APNs.self), ("{", FCM.self),
            (#"{"message":{"topic":"x"}}"#, FCM.self), ("x", WebPush.self), (#"{"a":1}"#, WebPush.self),
            ("<toast>", WNS.self), ("<tile><visual/></tile>", WNS.self),
            (#"<toast><visual><binding template="ToastNew"><text>a</text></binding></visual></toast>"#, WNS.self),
            ("<wp:Notification><wp:Tile/></wp:Notification>", MPNS.self), ("{}", ADM.self), ("x", Baidu.self),
        ] as [(String, any PushPlatform.Type)] {
            #expect(appearance(text, on: platform) == nil, "\(text) on \(platform)")
        }
    }

    @Test func partsThatADeviceDoesNotShowAreCautions() throws {
        let long = String(repeating: "word ", count: 100)
        let text =
            #"{"title": "T", "subtitle": "S", "text": "\#(long)", "badge": "+1", "sound": "default", "actions": [{"id": "a", "title": "A"}]}"#
        let message = try ComposedMessage(parsing: Array(text.utf8)).localized(in: nil)
        func cautions(_ platform: any PushPlatform.Type) throws -> [Appearance.Caution] {
            let read = platform.appearance(of: try rendered(message, on: platform))
            return try #require(read).cautions
        }
        #expect(try cautions(APNs.self) == [.textIsCutAfterLines, .actionsNeedTheSDK])
        #expect(
            try cautions(FCM.self) == [
                .textIsCutAfterLines, .actionsNeedTheSDK, .subtitleNotShown, .soundIsTheChannels,
            ])
        #expect(try cautions(WebPush.self) == [.textIsCutAfterLines, .subtitleNotShown, .badgeNotShown])
        #expect(try cautions(WNS.self) == [.textIsCutAfterLines, .badgeNotShown])
        #expect(try cautions(ADM.self) == [])
    }

    @Test func anyBytesHaveAnAppearanceOrNone() {
        var random = SeededGenerator(seed: 7)
        let seeds = [
            #"{"aps":{"alert":{"title":"a"},"badge":1},"actions":[{"title":"b"}]}"#,
            #"<toast launch="a=b&amp;c"><visual><binding template="ToastGeneric"><text>x</text></binding></visual></toast>"#,
            #"<wp:Notification><wp:Toast><wp:Text1>a</wp:Text1><wp:Param>/?a=%20</wp:Param></wp:Toast></wp:Notification>"#,
        ].map { Array($0.utf8) }
        for _ in 0..<2000 {
            var bytes = seeds.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                if Bool.random(using: &random), bytes.count > 1 {
                    bytes.remove(at: index)
                } else {
                    bytes[index] = UInt8.random(in: .min ... .max, using: &random)
                }
            }
            for platform in Self.platforms {
                _ = platform.appearance(of: platform.normalized(Message(body: bytes), at: Timestamp(seconds: 0)))
            }
        }
    }
}

/// Messages with any of their parts.
private enum RandomMessage {
    private static let words = [
        "sale", "ü", "정오", "🦆", "👩‍👩‍👧", "\"", "\\", "&", "<b>", "'", "]]>", "\n", "\r", "\t", "%20", "=", "$(x)", "&amp;",
        " ",
        "\u{202E}", "\u{FEFF}",
    ]

    static func make(using random: inout SeededGenerator) -> LocalizedMessage {
        var message = LocalizedMessage(
            title: text(&random), text: text(&random), data: ["a": text(&random) ?? ""])
        guard Int.random(in: 0..<10, using: &random) > 0 else {
            (message.title, message.text, message.isSilent) = (nil, nil, true)
            return message
        }
        if message.title == nil, message.text == nil { message.text = "x" }
        message.subtitle = text(&random)
        if Bool.random(using: &random) { message.link = "https://a.example/?q=%41&b=\"x\"".replacing("\"", with: "'") }
        if Bool.random(using: &random) { message.picture = "https://a.example/p?a=1&b=2" }
        message.actions = (0..<Int.random(in: 0...3, using: &random)).map {
            LocalizedMessage.Action(id: "a\($0)", title: text(&random) ?? "go", link: $0 == 1 ? "app:x" : nil)
        }
        message.badge =
            [nil, .increment, .number(Int.random(in: 0...99_999, using: &random))].randomElement(using: &random) ?? nil
        message.sound =
            [nil, .default, ComposedMessage.Sound.none, .named("a.caf")].randomElement(using: &random) ?? nil
        message.priority = ComposedMessage.Priority.allCases.randomElement(using: &random)
        return message
    }

    private static func text(_ random: inout SeededGenerator) -> String? {
        let count = Int.random(in: 0...5, using: &random)
        guard count > 0 else { return nil }
        return (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined()
    }
}
