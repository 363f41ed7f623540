import MartletCore
import MartletModel
import Testing

@testable import MartletPush

struct WNSTests {
    private func template(_ body: String, _ headers: [Template.Header] = []) -> Template {
        Template(body: body, headers: headers)
    }

    @Test func hostsOfChannelURIsCompareWithoutCaseAndTheRestAsItIs() throws {
        let key = try WNS.key(of: PushHandle("HTTPS://DB5.notify.windows.com:443/?token=Aw%2fB"))
        #expect(key == "https://db5.notify.windows.com/?token=Aw%2fB")
        #expect(throws: PushServiceError.self) { try WNS.key(of: PushHandle("http://db5.notify.windows.com/")) }
        #expect(throws: PushServiceError.self) { try WNS.key(of: PushHandle("/?token=x")) }
    }

    @Test(arguments: [
        ("<toast/>", "wns/toast"),
        ("\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-16\"?>\n<!-- a > b -->\n<tile>", "wns/tile"),
        ("<badge value=\"1\"/>", "wns/badge"),
    ])
    func aTemplateWithoutATypeIsKeptAsItCameAndSentAsItsRootTells(body: String, type: String) throws {
        #expect(try WNS.checked(template(body)) == template(body))
        #expect(WNS.type(of: Message(body: Array(body.utf8))) == type)
    }

    @Test func aTemplateOfJSONUnderATypeOfXMLIsTakenAsTheOriginalHubDoes() throws {
        let header = Template.Header(name: "X-WNS-Type", value: "wns/toast")
        let json = template(" {\"text\":\"$(text)\"}", [header])
        #expect(try WNS.prepared(json) == json)
        #expect(WNS.format(of: json) == .json)
        #expect(throws: PushServiceError.self) { try WNS.prepared(template("{\"text\":", [header])) }
        #expect(throws: PushServiceError.self) { try WNS.prepared(template("{}")) }
    }

    @Test func aTemplateWhoseTypeNothingTellsIsRefused() {
        #expect(throws: PushServiceError.self) { try WNS.checked(template("<visual/>")) }
        #expect(throws: PushServiceError.self) { try WNS.checked(template("$(text)")) }
        let header = Template.Header(name: "X-WNS-Type", value: "wns/poem")
        #expect(throws: PushServiceError.self) { try WNS.checked(template("<toast/>", [header])) }
    }

    @Test func aRawTemplateIsText() throws {
        let raw = template("$(text)", [Template.Header(name: "x-wns-type", value: "wns/raw")])
        #expect(try WNS.checked(raw) == raw)
        #expect(WNS.format(of: raw) == .text)
        #expect(WNS.format(of: template("<toast/>")) == .xml)
    }

    @Test func aMessageWithoutATypeNeedsARootThatTellsIt() throws {
        #expect(throws: Never.self) { try WNS.check(Message(body: Array("<toast/>".utf8))) }
        #expect(throws: Never.self) { try WNS.check(Message(body: [0, 1], fields: ["x-wns-type": "wns/raw"])) }
        #expect(throws: PushServiceError.self) { try WNS.check(Message(body: Array("hello".utf8))) }
        let large = Message(body: Array(repeating: 0x20, count: 5001), fields: ["x-wns-type": "wns/raw"])
        let error = try #require(throws: PushServiceError.self) { try WNS.check(large) }
        #expect(error.kind == .messageTooLarge)
    }

    @Test(arguments: ["X-WNS-Tag", "X-WNS-Group"])
    func aTagOfMoreThan16CharactersIsRefusedBeforeItIsSent(name: String) throws {
        func message(_ value: String) -> Message {
            Message(body: Array("<toast/>".utf8), fields: [name.lowercased(): value])
        }
        #expect(throws: Never.self) { try WNS.check(message("")) }
        #expect(throws: Never.self) { try WNS.check(message("sixteen-letters.")) }
        let error = try #require(throws: PushServiceError.self) { try WNS.check(message("seventeen-letters")) }
        #expect(error.kind == .badMessage)
        #expect(error.description == "\(name) has at most 16 characters; this one has 17.")
    }

    @Test(
        "Trap 33: a notification without a type has that of its root",
        arguments: [
            ("<toast/>", nil, "wns/toast"), ("<tile><visual/></tile>", nil, "wns/tile"),
            ("<?xml version=\"1.0\"?><badge/>", "", "wns/badge"), ("<toast/>", "wns/raw", "wns/raw"),
            ("hello", nil, nil),
        ] as [(String, String?, String?)])
    func aNotificationWithoutATypeHasThatOfItsRoot(body: String, stated: String?, type: String?) {
        var message = Message(body: Array(body.utf8))
        message.fields["x-wns-type"] = stated
        let normalized = WNS.normalized(message, at: Timestamp(seconds: 0))
        #expect(normalized.fields["x-wns-type"] == type)
        #expect(WNS.normalized(normalized, at: Timestamp(seconds: 0)).fields == normalized.fields)
    }

    @Test(
        "Trap 36: a declaration of UTF-16 on bytes of UTF-8 is left out",
        arguments: [
            (#"<?xml version="1.0" encoding="utf-16"?><toast>é</toast>"#, "<toast>é</toast>"),
            ("\u{FEFF}<?xml version='1.0' encoding = 'UTF-16LE' ?>\r\n<toast/>", "<toast/>"),
            (#"<?xml version="1.0" encoding="utf-8"?><toast/>"#, #"<?xml version="1.0" encoding="utf-8"?><toast/>"#),
            ("<?xml version='1.0'?><toast/>", "<?xml version='1.0'?><toast/>"),
            ("<toast>encoding=utf-16?></toast>", "<toast>encoding=utf-16?></toast>"),
            (#"<?xml encoding="utf-16""#, #"<?xml encoding="utf-16""#),
        ])
    func aFalseDeclarationIsLeftOut(sent: String, forwarded: String) {
        for (normalized, isRaw) in [(WNS.normalized, "wns/raw"), (MPNS.normalized, "raw")] {
            let toast = Message(
                body: Array(sent.utf8), fields: ["x-wns-type": "wns/toast", "x-windowsphone-target": "toast"])
            #expect(String(decoding: normalized(toast, Timestamp(seconds: 0)).body, as: UTF8.self) == forwarded)
            let raw = Message(body: Array(sent.utf8), fields: ["x-wns-type": isRaw, "x-windowsphone-target": isRaw])
            #expect(normalized(raw, Timestamp(seconds: 0)).body == Array(sent.utf8))
        }
    }

    @Test("Trap 36: real UTF-16 is left alone")
    func realUTF16IsLeftAlone() {
        let units = Array("\u{FEFF}<?xml encoding='utf-16'?><toast/>".utf16)
        let bytes = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let message = Message(body: bytes, fields: ["x-wns-type": "wns/toast"])
        #expect(WNS.normalized(message, at: Timestamp(seconds: 0)).body == bytes)
    }
}
