import Foundation
import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

/// The traps of NotificationHubs.md, section 16, that are about sending and that no golden file shows.
struct SendTrapTests {
    private static let batch =
        "--b\r\nContent-Disposition: inline; name=notification\r\n\r\ncoo\r\n"
        + "--b\r\nContent-Disposition: inline; name=devices\r\n\r\n[\"a\"]\r\n--b--"

    @Test(
        "Traps 14 and 15: the id of a send is where each client looks for it",
        arguments: ["messages", "messages/", "messages/$batch", "Messages/$Batch/", "ScheduledNotifications/"])
    func theIDIsWhereEachClientLooks(path: String) async throws {
        let fixture = try await HubFixture()
        let isBatch = path.lowercased().contains("batch")
        let fields: HTTPFields = [
            "servicebusnotification-format": "pigeon", "content-type": "multipart/mixed; boundary=b",
            "servicebusnotification-devicehandle": "a",
        ]
        var all = fields
        if path.hasPrefix("Scheduled") { all["servicebusnotification-scheduletime"] = "2026-06-01T00:00:00" }
        let response = try await fixture.send(
            .post, "/Demo/\(path)?api-version=2020-06&direct", fields: all, body: isBatch ? Self.batch : "coo")
        let location = try #require(response.fields["location"])
        #expect(location.hasPrefix("https://hub.example:8443/demo/"))
        let segments = location.components(separatedBy: "/")
        let kind = path.hasPrefix("Scheduled") ? "schedulednotifications" : "messages"
        #expect(segments.count == 6 && segments[4] == kind)
        let id = try #require(segments[5].components(separatedBy: "?").first)
        #expect(NotificationID(id) != nil)
        // Telemetry of every kind is read with the same id.
        #expect(try await fixture.send(.get, "/demo/messages/\(id)").element("NotificationId") == id)
    }

    @Test("Trap 7: a test flag on a schedule, as one client puts it on every request, changes nothing")
    func aTestFlagOnAScheduleChangesNothing() async throws {
        let fixture = try await HubFixture()
        let response = try await fixture.send(
            .post, "/demo/schedulednotifications?api-version=2020-06&test",
            fields: [
                "servicebusnotification-format": "pigeon",
                "servicebusnotification-scheduletime": "2026-06-01T00:00:00",
            ], body: "coo")
        #expect(response.status == .created)
        #expect(response.bytes.isEmpty)
        let location = try #require(response.fields["location"])
        #expect(location.hasSuffix("?api-version=2020-06"))
    }

    @Test("Trap 7: a test flag on a scheduled roll-out changes nothing either")
    func aTestFlagOnAScheduledRolloutChangesNothing() async throws {
        let fixture = try await HubFixture()
        let response = try await fixture.send(
            .post, "/demo/schedulednotifications?api-version=2020-06&test",
            fields: [
                "servicebusnotification-format": "pigeon", "martlet-rollout": "rate=5",
                "servicebusnotification-scheduletime": "2026-06-01T00:00:00",
            ], body: "coo")
        #expect(response.status == .created)
    }

    @Test("Trap 32: a template body that Java did not escape is refused with a sentence that says so")
    func anUnescapedTemplateBodyIsRefused() async throws {
        let fixture = try await HubFixture()
        let response = try await fixture.send(
            .post, "/demo/messages", fields: ["servicebusnotification-format": "template"],
            body: #"{"msg":"he said "hi""}"#)
        #expect(response.status == .badRequest)
        #expect(response.text.contains("Values must be JSON-escaped"))
    }

    @Test("Trap 33: headers of two platforms do not tell which is meant")
    func headersOfTwoPlatformsTellNothing() async throws {
        let fixture = try await HubFixture()
        let fields: HTTPFields = ["apns-priority": "5", "x-wns-type": "wns/toast"]
        let response = try await fixture.send(.post, "/demo/messages", fields: fields, body: "<toast/>")
        #expect(response.status == .badRequest)
    }

    @Test(
        "Trap 33: the headers of each platform tell that it is meant",
        arguments: [
            ("x-apns-push-type", "alert", #"{"aps":{"alert":"hi"}}"#, "apple"),
            ("x-wns-type", "wns/toast", "<toast/>", "windows"),
            ("x-notificationclass", "2", "<wp:Toast/>", "windowsphone"),
            ("x-windowsphone-target", "toast", "<wp:Toast/>", "windowsphone"),
        ])
    func theHeadersTellThePlatform(name: String, value: String, body: String, format: String) async throws {
        let fixture = try await HubFixture()
        let sent = try await fixture.send(
            .post, "/demo/messages", fields: HTTPFields([HTTPField(name, value)]), body: body)
        let id = try #require(sent.fields["location"]?.components(separatedBy: "/").last?.prefix(32))
        let details = try await fixture.send(.get, "/demo/messages/\(id)")
        #expect(details.element("TargetPlatforms") == format)
    }

    @Test("A batch may be larger than a message, and has a limit", arguments: [65_537, 4_000_000])
    func aBatchHasALimitOfItsOwn(size: Int) async throws {
        let fixture = try await HubFixture()
        let response = try await fixture.send(
            .post, "/demo/messages/$batch?direct",
            fields: [
                "servicebusnotification-format": "pigeon", "content-type": "multipart/mixed; boundary=b",
            ], body: Self.batch + String(repeating: " ", count: size))
        #expect(response.status == (size < 100_000 ? .created : .contentTooLarge))
    }
}
