import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct APNsLiveActivityTests {
    private static let start: [String: JSON] = [
        "timestamp": 1_700_000_000, "event": "start", "content-state": ["minutes": 12],
        "attributes-type": "OrderAttributes", "attributes": ["order": 17], "alert": ["title": "Order 17"],
    ]
    private static let update: [String: JSON] = [
        "timestamp": 1_700_000_100, "event": "update", "content-state": ["minutes": 3], "stale-date": 1_700_003_600,
    ]
    private static let end: [String: JSON] = [
        "timestamp": 1_700_000_200, "event": "end", "dismissal-date": 1_700_000_500,
    ]

    private static func message(_ aps: [String: JSON], _ fields: [String: String] = [:]) -> Message {
        Message(body: (["aps": .object(aps)] as JSON).bytes, fields: fields)
    }

    @Test(arguments: [start, update, end])
    func theEventOfAPayloadDeterminesItsPurpose(aps: [String: JSON]) throws {
        let message = Self.message(aps)
        #expect(throws: Never.self) { try APNs.check(message) }
        let shared = try APNsFixture.service().shared(
            message, token: "jwt", expiry: APNsFixture.now + .seconds(60), at: APNsFixture.now)
        #expect(shared.fields["apns-push-type"] == "liveactivity")
        #expect(shared.fields["apns-topic"] == "com.example.app.push-type.liveactivity")
        #expect(shared.fields["apns-priority"] == "10")
        #expect(shared.fields["apns-expiration"] == "1700000060")
    }

    @Test func whatIsStatedIsKept() throws {
        let fields = [
            "apns-push-type": "liveactivity", "apns-topic": "com.example.other.push-type.liveactivity",
            "apns-priority": "5", "apns-expiration": "0",
        ]
        let shared = try APNsFixture.service().shared(
            Self.message(Self.update, fields), token: "jwt", expiry: APNsFixture.now, at: APNsFixture.now)
        for (name, value) in fields { #expect(shared.fields[name] == value) }
    }

    @Test(
        arguments: [
            (start, "event", nil), (start, "event", "pause"), (start, "timestamp", nil),
            (start, "timestamp", "1700000000"),
            (start, "content-state", nil), (start, "content-state", "ready"), (start, "attributes-type", nil),
            (start, "attributes-type", ""), (start, "attributes", nil), (start, "attributes", [17]),
            (start, "alert", nil),
            (update, "content-state", nil), (update, "stale-date", "tomorrow"), (end, "content-state", []),
            (end, "dismissal-date", true),
            // Milliseconds: whatever comes afterwards would be taken for old.
            (update, "timestamp", 1_700_000_100_000),
        ] as [([String: JSON], String, JSON?)])
    func aPayloadThatADeviceWouldDiscardIsRefused(aps: [String: JSON], member: String, value: JSON?) throws {
        var aps = aps
        aps[member] = value
        let error = try #require(throws: PushServiceError.self) {
            try APNs.check(Self.message(aps, ["apns-push-type": "liveactivity"]))
        }
        #expect(error.kind == .badMessage)
        #expect(error.description.contains("aps.\(member) must"))
    }

    @Test func timesMayHaveFractions() throws {
        var aps = Self.update
        aps["timestamp"] = .double(1_700_000_100.25)
        #expect(throws: Never.self) { try APNs.check(Self.message(aps)) }
    }

    @Test func anEndMayShowALastState() throws {
        var aps = Self.end
        aps["content-state"] = ["minutes": 0]
        #expect(throws: Never.self) { try APNs.check(Self.message(aps)) }
    }

    @Test(arguments: [4096, 4097])
    func aPayloadIsLimited(size: Int) throws {
        func message(_ filler: Int) -> Message {
            var aps = Self.update
            aps["content-state"] = ["text": .string(String(repeating: "x", count: filler))]
            return Self.message(aps)
        }
        let full = message(size - message(0).body.count)
        #expect(full.body.count == size)
        let isRefused: Bool
        do throws(PushServiceError) {
            try APNs.check(full)
            isRefused = false
        } catch {
            isRefused = error.kind == .messageTooLarge
        }
        #expect(isRefused == (size > 4096))
    }

    @Test func anAlertWithAnEventOfTheAppsOwnStaysAnAlert() throws {
        let message = APNsFixture.message(#"{"aps":{"alert":"x"},"event":"start","timestamp":1}"#)
        let shared = try APNsFixture.service().shared(
            message, token: "jwt", expiry: APNsFixture.now, at: APNsFixture.now)
        #expect(shared.fields["apns-push-type"] == "alert")
    }

    @Test(arguments: ["widgets", "controls"])
    func widgetsAreToldThatTheirContentHasChanged(type: String) throws {
        let fields = ["apns-push-type": type]
        #expect(throws: Never.self) { try APNs.check(Self.message(["content-changed": true], fields)) }
        let error = try #require(throws: PushServiceError.self) { try APNs.check(Self.message([:], fields)) }
        #expect(error.description.contains("content-changed"))
    }
}
