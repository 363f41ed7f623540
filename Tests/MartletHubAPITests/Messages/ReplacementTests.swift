import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

struct ReplacementTests {
    private static let fields: HTTPFields = [
        "servicebusnotification-format": "pigeon", "servicebusnotification-scheduletime": "2026-01-01T01:00:00",
    ]

    private func schedule(_ fixture: HubFixture) async throws -> NotificationID {
        let response = try await fixture.send(
            .post, "/demo/schedulednotifications", fields: Self.fields, body: "old")
        let location = try #require(response.fields["location"])
        return try #require(location.split(separator: "?")[0].split(separator: "/").last.flatMap { NotificationID($0) })
    }

    private func replace(
        _ id: String, _ fixture: HubFixture, fields: HTTPFields = fields, as rule: String = "send"
    ) async throws -> HTTPResponse {
        try await fixture.send(.put, "/demo/schedulednotifications/\(id)", as: rule, fields: fields, body: "new")
    }

    @Test func aScheduleIsReplacedUnderItsID() async throws {
        let fixture = try await HubFixture()
        let id = try await schedule(fixture)
        var fields = Self.fields
        fields["servicebusnotification-scheduletime"] = "2026-01-02T00:00:00"
        fields["servicebusnotification-tags"] = "x && y"
        fields["martlet-expires"] = "PT1H"
        let response = try await replace(id.description, fixture, fields: fields)
        #expect(response.status == .ok)
        #expect(
            response.fields["location"]
                == "https://hub.example:8443/demo/schedulednotifications/\(id)?api-version=2020-06")
        let notification = try #require(try await fixture.storage.report(id, in: fixture.hub.id)).notification
        #expect(notification.content.body == Array("new".utf8))
        #expect(notification.dueAt == HubFixture.start + .seconds(86_400))
        #expect(notification.expiresAt == HubFixture.start + .seconds(90_000))
        guard case .audience(let expression?) = notification.target else { return #expect(Bool(false)) }
        #expect(expression.description == "x && y")
    }

    @Test func unknownAndEndedSchedulesAreNotReplaced() async throws {
        let fixture = try await HubFixture()
        #expect(try await replace("nonsense", fixture).status == .notFound)
        #expect(try await replace(NotificationID(at: HubFixture.start).description, fixture).status == .notFound)
        let canceled = try await schedule(fixture)
        #expect(try await fixture.send(.delete, "/demo/schedulednotifications/\(canceled)").status == .ok)
        let late = try await replace(canceled.description, fixture)
        #expect(late.status == .conflict)
        #expect(late.text.contains("was canceled and cannot be replaced"))
        let begun = try await schedule(fixture)
        fixture.time.advance(by: .seconds(3600))
        _ = try await fixture.storage.release(due: fixture.time.now, limit: 9)
        let tooLate = try await replace(begun.description, fixture)
        #expect(tooLate.status == .conflict)
        #expect(tooLate.text.contains("has begun to go out and cannot be replaced"))
    }

    @Test("A paused schedule stays paused when it is replaced, and the answer says so")
    func aReplacedScheduleStaysPaused() async throws {
        let fixture = try await HubFixture()
        let id = try await schedule(fixture)
        #expect(try await replace(id.description, fixture).fields["martlet-control"] == nil)
        #expect(try await fixture.send(.post, "/demo/messages/\(id)/pause").status == .ok)
        let paused = try await replace(id.description, fixture)
        #expect(paused.status == .ok)
        #expect(paused.fields["martlet-control"] == "paused")
        #expect(try await fixture.storage.status(id, in: fixture.hub.id)?.control == .paused)
        #expect(try await fixture.send(.post, "/demo/messages/\(id)/resume").status == .ok)
        #expect(try await replace(id.description, fixture).fields["martlet-control"] == nil)
    }

    @Test("A schedule paused before its time can be replaced after it, because nothing was sent")
    func aSchedulePausedBeyondItsTimeCanBeReplaced() async throws {
        let fixture = try await HubFixture()
        let id = try await schedule(fixture)
        #expect(try await fixture.send(.post, "/demo/messages/\(id)/pause").status == .ok)
        fixture.time.advance(by: .seconds(4000))
        // As the scheduler of this server, and of the next one, does at its time.
        #expect(try await fixture.storage.release(due: fixture.time.now, limit: 9).count == 0)
        let replaced = try await replace(id.description, fixture)
        #expect(replaced.status == .ok)
        #expect(replaced.fields["martlet-control"] == "paused")
        #expect(try await fixture.send(.post, "/demo/messages/\(id)/resume").status == .ok)
        let released = try await fixture.storage.release(due: fixture.time.now, limit: 9)
        #expect(released.count == 1)
        #expect(try await replace(id.description, fixture).status == .conflict)
    }

    @Test func aBadReplacementChangesNothing() async throws {
        let fixture = try await HubFixture()
        let id = try await schedule(fixture)
        for (name, value) in [
            ("servicebusnotification-scheduletime", "soon"), ("servicebusnotification-tags", "a &&"),
            ("servicebusnotification-format", "owl"), ("martlet-expires", "PT0S"),
        ] {
            var fields = Self.fields
            fields[name] = value
            #expect(try await replace(id.description, fixture, fields: fields).status == .badRequest)
        }
        #expect(try await replace(id.description, fixture, as: "listen").status == .forbidden)
        let notification = try #require(try await fixture.storage.report(id, in: fixture.hub.id)).notification
        #expect(notification.content.body == Array("old".utf8))
        #expect(notification.dueAt == HubFixture.start + .seconds(3600))
    }
}
