import MartletCore
import MartletHTTP
import MartletTesting
import Testing

@testable import MartletHubAPI

struct RepeatedSendsTests {
    private func send(
        _ fixture: HubFixture, tracking: String?, body: String = "coo", tags: String = "a"
    ) async throws -> String? {
        var fields: HTTPFields = [
            "ServiceBusNotification-Format": "pigeon", "ServiceBusNotification-Tags": tags,
        ]
        if let tracking { fields["trackingid"] = tracking }
        let response = try await fixture.send(.post, "/demo/messages", as: "send", fields: fields, body: body)
        #expect(response.status == .created)
        #expect(tracking == nil || response.fields["trackingid"] == tracking)
        return response.fields["location"]
    }

    @Test("Trap 37: a send that is repeated with its tracking id is accepted once")
    func aRepeatedSendIsAcceptedOnce() async throws {
        let fixture = try await HubFixture()
        let first = try await send(fixture, tracking: "t-1")
        #expect(try await send(fixture, tracking: "t-1") == first)
        #expect(try await fixture.storage.unfinished(after: .none, limit: 10).count == 1)
    }

    @Test func sendsThatDifferAreNotRepeats() async throws {
        let fixture = try await HubFixture()
        var locations: Set<String?> = []
        locations.insert(try await send(fixture, tracking: "t-1"))
        locations.insert(try await send(fixture, tracking: "t-2"))
        locations.insert(try await send(fixture, tracking: "t-1", body: "coo!"))
        locations.insert(try await send(fixture, tracking: "t-1", tags: "b"))
        locations.insert(try await send(fixture, tracking: nil))
        locations.insert(try await send(fixture, tracking: nil))
        #expect(locations.count == 6)
    }

    @Test func aSendIsForgottenAfterTwoMinutes() async throws {
        let fixture = try await HubFixture()
        let first = try await send(fixture, tracking: "t-1")
        fixture.time.advance(by: .seconds(119))
        #expect(try await send(fixture, tracking: "t-1") == first)
        fixture.time.advance(by: .seconds(1))
        #expect(try await send(fixture, tracking: "t-1") != first)
    }

    @Test func aSendThatIsUnderwayIsNotTakenTwice() {
        let sends = RepeatedSends(time: ManualTimeSource())
        let key = RepeatedSends.Key(HTTPRequest(.post, "/demo/messages"), tracking: "t", hub: Hub.ID(rawValue: 1))
        #expect(sends.begin(key) == .new)
        #expect(sends.begin(key) == .underway)
        sends.end(key, nil)
        #expect(sends.begin(key) == .new)
        let id = NotificationID(high: 1, low: 2)
        sends.end(key, id)
        #expect(sends.begin(key) == .accepted(id))
    }

    @Test func noMoreThanTheLimitAreRemembered() {
        let sends = RepeatedSends(time: ManualTimeSource(), limit: 2000)
        func key(_ number: Int) -> RepeatedSends.Key {
            RepeatedSends.Key(HTTPRequest(.post, "/demo/messages"), tracking: "\(number)", hub: Hub.ID(rawValue: 1))
        }
        for number in 0..<5000 {
            #expect(sends.begin(key(number)) == .new)
            sends.end(key(number), NotificationID(high: 0, low: UInt64(number)))
        }
        #expect(sends.begin(key(4999)) == .accepted(NotificationID(high: 0, low: 4999)))
        #expect(sends.begin(key(3001)) == .accepted(NotificationID(high: 0, low: 3001)))
        #expect(sends.begin(key(2999)) == .new)
    }
}
