import MartletCore
import MartletModel
import Testing

@testable import MartletPush

struct APNsMessageTests {
    @Test func handlesCompareWithoutCase() throws {
        let upper = PushHandle(APNsFixture.token.uppercased())
        #expect(try APNs.key(of: upper) == APNsFixture.token)
        #expect(try APNs.key(of: PushHandle(String(repeating: "ab", count: 80))).count == 160)
    }

    @Test(arguments: [
        "", "ab", String(repeating: "a", count: 63), String(repeating: "a", count: 65),
        String(repeating: "g", count: 64), String(repeating: "a", count: 514), String(repeating: "é", count: 64),
        String(repeating: "a", count: 62) + "\n\n",
    ])
    func whatIsNoDeviceTokenIsRefused(text: String) throws {
        let error = try #require(throws: PushServiceError.self) { try APNs.key(of: PushHandle(text)) }
        #expect(error.kind == .badHandle)
    }

    @Test func aHandleHasOnePart() {
        #expect(throws: PushServiceError.self) {
            try APNs.key(of: PushHandle(APNsFixture.token, APNsFixture.token))
        }
    }

    @Test(arguments: [("alert", 4096), ("voip", 5120), ("liveactivity", 4096)])
    func payloadsAreLimitedByTheirPushType(type: String, limit: Int) throws {
        func message(_ count: Int) -> Message {
            let frame = #"{"aps":""}"#
            let filler = String(repeating: "x", count: count - frame.utf8.count)
            return APNsFixture.message(#"{"aps":"\#(filler)"}"#, ["apns-push-type": type])
        }
        #expect(throws: Never.self) { try APNs.check(message(limit)) }
        let error = try #require(throws: PushServiceError.self) { try APNs.check(message(limit + 1)) }
        #expect(error.kind == .messageTooLarge)
        #expect(error.description.contains("\(limit)"))
    }

    @Test(arguments: ["", "hello", "[]", "\"text\"", "{\"aps\":}", "{} {}", "null"])
    func aPayloadIsAJSONObject(body: String) throws {
        let error = try #require(throws: PushServiceError.self) { try APNs.check(APNsFixture.message(body)) }
        #expect(error.kind == .badMessage)
    }

    @Test func aShownTextArrivesAsItIs() throws {
        let text = "From bob: \"quotes\"\nnew line \\ 🦜 العربية"
        let message = try APNs.message(showing: text)
        #expect(try JSON(parsing: message.body)["aps"]?["alert"] == .string(text))
        #expect(try JSON(parsing: message.body) == ["aps": ["alert": .string(text)]])
    }

    @Test func aTextThatDoesNotFitIsRefusedBeforehand() throws {
        let room = 4096 - #"{"aps":{"alert":""}}"#.utf8.count
        #expect(throws: Never.self) { try APNs.message(showing: String(repeating: "x", count: room)) }
        let error = try #require(throws: PushServiceError.self) {
            try APNs.message(showing: String(repeating: "x", count: room + 1))
        }
        #expect(error.kind == .messageTooLarge)
    }
}
