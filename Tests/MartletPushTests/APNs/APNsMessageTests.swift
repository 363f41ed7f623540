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
        "", "a", String(repeating: "a", count: 63), String(repeating: "a", count: 65),
        String(repeating: "g", count: 64), String(repeating: "a", count: 514), String(repeating: "é", count: 64),
        String(repeating: "a", count: 62) + "\n\n",
    ])
    func invalidDeviceTokensAreRefused(text: String) throws {
        let error = try #require(throws: PushServiceError.self) { try APNs.key(of: PushHandle(text)) }
        #expect(error.kind == .badHandle)
    }

    @Test func aHandleHasOnePart() {
        #expect(throws: PushServiceError.self) {
            try APNs.key(of: PushHandle(APNsFixture.token, APNsFixture.token))
        }
    }

    @Test(arguments: [("alert", 4096), ("voip", 5120), ("location", 4096)])
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

    @Test(
        "Trap 34: the hub's expiry is read as UTC, and where an hour of a twelve-hour clock has passed, as the other half",
        arguments: [
            // Sent at 20:22:54 for a day later, and at 00:10:00; then for an hour later.
            ("11/22/2026 08:22:54", "2026-11-21T20:22:54Z", "2026-11-22T08:22:54Z"),
            ("11/22/2026 12:10:00", "2026-11-21T00:10:00Z", "2026-11-22T12:10:00Z"),
            ("11/21/2026 09:22:54", "2026-11-21T20:22:54Z", "2026-11-21T21:22:54Z"),
            ("11/21/2026 12:30:00", "2026-11-21T12:00:00Z", "2026-11-21T12:30:00Z"),
            ("11/21/2026 14:00:00", "2026-11-21T20:22:54Z", "2026-11-21T14:00:00Z"),
            ("11/20/2026 08:00:00", "2026-11-21T20:22:54Z", "2026-11-20T20:00:00Z"),
            ("2026-11-21T09:00:00Z", "2026-11-21T20:22:54Z", "2026-11-21T09:00:00Z"),
            ("2026-11-21T09:00:00", "2026-11-21T08:00:00Z", "2026-11-21T09:00:00Z"),
        ])
    func theHubsExpiryIsReadAsUTC(text: String, now: String, expiry: String) throws {
        let now = try #require(Timestamp(iso8601: now))
        for field in ["servicebusnotification-apns-expiry", "servicebusnotification-apnsexpiry"] {
            let message = APNs.normalized(APNsFixture.message("{}", [field: text]), at: now)
            #expect(message.fields == ["apns-expiration": String(try #require(Timestamp(iso8601: expiry)).seconds)])
            #expect(APNs.normalized(message, at: now).fields == message.fields)
        }
    }

    @Test(arguments: [("0", "0"), ("1795253696", "1795253696"), ("tomorrow", nil), ("", nil)] as [(String, String?)])
    func anExpiryIsNeverRefused(text: String, expiration: String?) throws {
        let message = APNs.normalized(
            APNsFixture.message("{}", ["servicebusnotification-apns-expiry": text]), at: APNsFixture.now)
        #expect(message.fields["apns-expiration"] == expiration)
        #expect(throws: Never.self) { try APNs.check(message) }
    }

    @Test(arguments: ["apns-expiration", "x-apns-expiration"])
    func theServicesExpirationIsTheStrongerOne(field: String) {
        let fields = [field: "7", "servicebusnotification-apns-expiry": "8"]
        #expect(APNs.normalized(APNsFixture.message("{}", fields), at: APNsFixture.now).fields == [field: "7"])
    }
}
