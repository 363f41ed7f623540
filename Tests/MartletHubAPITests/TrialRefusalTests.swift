import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

/// Routes that change something and have no dry run refuse a request for one.
struct TrialRefusalTests {
    private static let installation = #"{"installationId": "phone", "platform": "pigeon", "pushChannel": "coo"}"#

    private static let changes: [(HTTPMethod, String, String)] = [
        (.post, "/demo/registrationids", ""), (.post, "/demo/registrations", "x"), (.put, "/demo/registrations/7", "x"),
        (.delete, "/demo/registrations/1", ""), (.put, "/demo/installations/phone", installation),
        (.patch, "/demo/installations/phone", "[]"), (.delete, "/demo/installations/phone", ""),
        (.put, "/demo/sending", #"{"testers": "x"}"#), (.post, "/demo/jobs", "x"), (.put, "/other", "x"),
        (.delete, "/demo", ""),
    ]

    @Test(arguments: ["dryRun", "dry-run=1", "dryrun=false"])
    func aDryRunThatARouteDoesNotHaveIsRefused(item: String) async throws {
        let fixture = try await HubFixture()
        let name = String(item.prefix { $0 != "=" })
        for (method, path, body) in Self.changes {
            let response = try await fixture.send(
                method, "\(path)?api-version=2020-06&\(item)", as: AccessRule.rootName, body: body)
            #expect(response.status == .badRequest, "\(method) \(path)")
            #expect(
                response.text.contains("leave out the query item '\(name)'; nothing was done"), "\(method) \(path)")
        }
        #expect(fixture.hubs.hub(named: "demo") != nil && fixture.hubs.hub(named: "other") == nil)
    }

    @Test func aScheduleIsNotCanceledByARequestForADryRun() async throws {
        let fixture = try await HubFixture()
        let fields: HTTPFields = [
            "servicebusnotification-format": "pigeon", "servicebusnotification-scheduletime": "2026-01-01T01:00:00",
        ]
        let sent = try await fixture.send(.post, "/demo/schedulednotifications?test", fields: fields, body: "coo")
        let location = try #require(sent.fields["location"])
        let id = try #require(location.split(separator: "?")[0].split(separator: "/").last)
        let path = "/demo/schedulednotifications/\(id)?api-version=2020-06"
        let refused = try await fixture.send(.delete, path + "&dryRun", as: "send")
        #expect(refused.status == .badRequest && refused.text.contains("This request has no dry run"))
        let listed = try JSON(parsing: try await fixture.send(.get, "/demo/schedulednotifications").bytes)
        #expect(listed["schedules"]?.array?.first?["control"] == "running")
        #expect(try await fixture.send(.delete, path + "&test", as: "send").status == .ok)
    }

    @Test func aTestIsIgnoredBecauseTheDotNetClientAsksForItEverywhere() async throws {
        let fixture = try await HubFixture()
        let put = try await fixture.send(
            .put, "/demo/installations/phone?api-version=2020-06&test", as: "listen", body: Self.installation)
        #expect(put.status == .ok)
        let delete = try await fixture.send(
            .delete, "/demo/installations/phone?api-version=2020-06&test", as: "listen")
        #expect(delete.status == .noContent)
        #expect(try await fixture.send(.post, "/demo/registrationids?test", as: "listen").status == .created)
        #expect(try await fixture.send(.get, "/demo/installations/phone?dryRun", as: "listen").status == .notFound)
        let sending = try await fixture.send(.put, "/demo/sending?test", body: #"{"testers": "x"}"#)
        #expect(sending.status == .badRequest, "settings of sends are no part of Azure's API")
    }
}
