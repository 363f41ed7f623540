import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct WebPushMessageTests {
    private func headers(_ fields: [String: String]) throws(PushServiceError) -> WebPushHeaders {
        try WebPushHeaders(WebPushFixture.message("{}", fields))
    }

    @Test func theFieldsOfTheStandardAreTaken() throws {
        let headers = try headers(["ttl": "0", "urgency": "very-low", "topic": "a-b_"])
        #expect(headers.timeToLive == 0 && headers.urgency == .veryLow && headers.topic == "a-b_")
        let none = try self.headers([:])
        #expect(none.timeToLive == nil && none.urgency == nil && none.topic == nil)
    }

    @Test func theNamesOfTheHubsClientsAreTakenWhereTheStandardsAreMissing() throws {
        let hub = ["servicebusnotification-timetolive": "5", "servicebusnotification-urgency": "High"]
        #expect(try headers(hub).timeToLive == 5)
        #expect(try headers(hub).urgency == .high)
        #expect(try headers(hub.merging(["ttl": "7"]) { $1 }).timeToLive == 7)
        let message = WebPush.normalized(WebPushFixture.message("{}", hub), at: WebPushFixture.now)
        #expect(message.fields == ["ttl": "5", "urgency": "High"])
        #expect(WebPush.normalized(message, at: WebPushFixture.now).fields == message.fields)
    }

    @Test func invalidValuesUnderAHubsNameAreIgnored() throws {
        let fields = ["servicebusnotification-timetolive": "2030-01-01", "servicebusnotification-urgency": "now"]
        #expect(try headers(fields) == headers([:]))
    }

    @Test(arguments: [
        ["ttl": "-1"], ["ttl": "1.5"], ["ttl": "+1"], ["urgency": "now"], ["topic": "a b"],
        ["topic": "abcde"], ["topic": String(repeating: "a", count: 34)],
    ])
    func invalidValuesUnderThePlatformsNameAreRefused(fields: [String: String]) throws {
        let error = try #require(throws: PushServiceError.self) {
            try WebPush.check(WebPushFixture.message("{}", fields))
        }
        #expect(error.kind == .badMessage)
    }

    @Test func asMuchClearTextAsFitsIsTaken() throws {
        try WebPush.check(WebPushFixture.message(String(repeating: "x", count: 3993)))
        let error = try #require(throws: PushServiceError.self) {
            try WebPush.check(WebPushFixture.message(String(repeating: "x", count: 3994)))
        }
        #expect(error.kind == .messageTooLarge)
        var fixture = try WebPushFixture()
        let handle = try fixture.subscribe()
        let longest = WebPushFixture.message(String(repeating: "x", count: 3993))
        let request = try #require(fixture.requests(longest, to: [handle]).first)
        #expect(request.body.count == 4096)
        #expect(fixture.simulator.answer(request, at: WebPushFixture.now).response.status == .created)
    }
}
