import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

struct ExpiryHeaderTests {
    private static let start = HubFixture.start

    private func read(_ values: String...) throws -> Expiry? {
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField("martlet-expires", value)) }
        return try ExpiryHeader.read(from: fields)
    }

    @Test func itIsATimeInUTCOrADuration() throws {
        #expect(try read() == nil)
        #expect(try read("2026-01-01T00:00:01Z") == .at(Self.start + .seconds(1)))
        #expect(try read("2026-01-01T00:00:00.250Z") == .at(Self.start + .milliseconds(250)))
        #expect(try read("PT90M") == .after(.seconds(5400)))
        #expect(try read("P1DT1S") == .after(.seconds(86_401)))
    }

    @Test(
        "What is neither is refused with a sentence that says so",
        arguments: [
            "", "tomorrow", "2026-01-01T00:00:01", "2026-01-01T00:00:01+02:00", "2026-13-01T00:00:00Z", "P", "PT",
            "-PT5M", "PT5", "90", "P10675199DT2H48M5.4775807S",
        ])
    func whatIsNeitherIsRefused(text: String) throws {
        let error = #expect(throws: HubAPIError.self) { try read(text) }
        #expect(error?.status == .badRequest)
        #expect(error?.sentence.hasPrefix("Martlet-Expires must be, once, a time in UTC") == true)
    }

    @Test func itIsSaidOnce() {
        #expect(throws: HubAPIError.self) { try read("PT5M", "PT5M") }
    }

    @Test(
        "Each kind of send takes it, and changes nothing where it is bad",
        arguments: ["messages", "messages/$batch?direct", "schedulednotifications"])
    func eachKindOfSendTakesIt(path: String) async throws {
        let fixture = try await HubFixture()
        var fields: HTTPFields = [
            "servicebusnotification-format": "pigeon", "content-type": "multipart/mixed; boundary=b",
        ]
        if path == "schedulednotifications" { fields["servicebusnotification-scheduletime"] = "2026-01-01T01:00:00" }
        let body =
            path.contains("batch")
            ? "--b\r\nContent-Disposition: inline; name=notification\r\n\r\ncoo\r\n"
                + "--b\r\nContent-Disposition: inline; name=devices\r\n\r\n[\"a\"]\r\n--b--" : "coo"
        for bad in ["soon", "PT0S", "P29D", "2025-12-31T23:59:59Z"] {
            fields["martlet-expires"] = bad
            let refused = try await fixture.send(.post, "/demo/\(path)", fields: fields, body: body)
            #expect(refused.status == .badRequest)
        }
        #expect(try await fixture.storage.nextDue() == nil)
        #expect(try await fixture.storage.unfinished(after: .none, limit: 9).isEmpty)
        fields["martlet-expires"] = "PT2H"
        let response = try await fixture.send(.post, "/demo/\(path)", fields: fields, body: body)
        #expect(response.status == .created)
        let location = try #require(response.fields["location"])
        let id = try #require(
            location.split(separator: "?")[0].split(separator: "/").last.flatMap { NotificationID($0) })
        let notification = try #require(try await fixture.storage.report(id, in: fixture.hub.id)).notification
        #expect(notification.expiresAt == Self.start + .seconds(path == "schedulednotifications" ? 10_800 : 7200))
        #expect(notification.statesExpiry)
    }
}
