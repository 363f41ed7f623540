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
    func aTemplateWithoutATypeHasThatOfItsRoot(body: String, type: String) throws {
        #expect(try WNS.checked(template(body)).headers == [Template.Header(name: "X-WNS-Type", value: type)])
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
}
