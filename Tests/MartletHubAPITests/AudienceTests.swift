import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

/// Whom a send would reach, and what it would do: extensions of the API.
struct AudienceTests {
    private func json(_ response: HTTPResponse) throws -> JSON { try JSON(parsing: response.bytes) }

    private func tryOut(
        _ target: String, _ fields: HTTPFields, body: String = "coo", of fixture: HubFixture
    ) async throws -> JSON {
        let response = try await fixture.send(.post, target, as: "send", fields: fields, body: body)
        #expect(response.status == .ok)
        #expect(response.fields["content-type"] == "application/json; charset=utf-8")
        #expect(response.fields["location"] == nil)
        return try json(response)
    }

    @Test func anAudienceIsCountedByFormat() async throws {
        let fixture = try await HubFixture()
        for (loft, id, tags) in [("a", "1-1-1", "x"), ("b", "2-1-1", "x,y"), ("a", "3-1-1", "x")] {
            try await fixture.register(loft, as: id, tags: tags)
        }
        let response = try await fixture.send(.get, "/demo/audience?api-version=2020-06&tags=x%20%26%26%20!y")
        #expect(response.status == .ok)
        #expect(
            try json(response) == [
                "registrations": 2, "devices": 1, "isOfOneMoment": true,
                "platforms": ["pigeon": ["registrations": 2, "devices": 1, "native": 1, "templates": 0]],
            ])
        #expect(try json(try await fixture.send(.get, "/demo/audience"))["devices"] == 2)
        #expect(try json(try await fixture.send(.get, "/demo/audience?format=template"))["registrations"] == 0)
        #expect(try json(try await fixture.send(.get, "/demo/audience?format=Pigeon"))["registrations"] == 3)
    }

    @Test(
        "What is wrong with a question is said",
        arguments: ["tags=", "tags", "tags=a%20%26%26", "format=owl", "format="])
    func badQuestionsAreRefused(query: String) async throws {
        let response = try await HubFixture().send(.get, "/demo/audience?\(query)")
        #expect(response.status == .badRequest)
    }

    @Test func countingNeedsManageAndADryRunNeedsSend() async throws {
        let fixture = try await HubFixture()
        for rule in ["listen", "send"] {
            #expect(try await fixture.send(.get, "/demo/audience", as: rule).status == .forbidden)
        }
        let fields: HTTPFields = ["servicebusnotification-format": "pigeon"]
        for (rule, status) in [("listen", HTTPStatus.forbidden), ("send", .ok)] {
            let response = try await fixture.send(.post, "/demo/messages?dryRun", as: rule, fields: fields, body: "coo")
            #expect(response.status == status)
        }
    }

    @Test func aDryRunTellsNumbersPayloadsAndProblems() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("a", as: "1-1-1", tags: "x")
        let fields: HTTPFields = [
            "servicebusnotification-format": "pigeon", "servicebusnotification-tags": "x", "pigeon-speed": "high",
        ]
        let run = try await tryOut("/demo/messages?dryRun", fields, of: fixture)
        #expect(run["isAccepted"] == true)
        #expect(run["targeted"] == 1)
        #expect(run["problems"] == ["The hub has no credential for pigeon."])
        #expect(run["audience"]?["devices"] == 1)
        let part = try #require(run["platforms"]?["pigeon"])
        #expect(part["credential"] == ["state": "missing"])
        #expect(
            part["payloads"] == [
                [
                    "pushes": 1, "renderings": 1, "size": 3, "fields": ["pigeon-speed": "high"], "appearance": .null,
                    "body": "coo",
                ]
            ])
    }

    @Test(
        "What was meant as a dry run and is spelled otherwise is not sent",
        arguments: ["dry-run", "dry_run", "DRY-RUN=true", "dry.run=1"])
    func aMisspeltDryRunIsRefused(item: String) async throws {
        let fixture = try await HubFixture()
        let fields: HTTPFields = [
            "servicebusnotification-format": "pigeon", "servicebusnotification-scheduletime": "2030-01-01T00:00:00",
        ]
        var now = fields
        now["servicebusnotification-scheduletime"] = nil
        for (path, fields) in [("messages", now), ("schedulednotifications", fields)] {
            let response = try await fixture.send(.post, "/demo/\(path)?\(item)", fields: fields, body: "coo")
            #expect(response.status == .badRequest)
            #expect(response.text.contains("is spelled dryRun; nothing was sent"))
        }
        #expect(try await fixture.storage.unfinished(after: .none, limit: 9).isEmpty)
    }

    @Test func aDryRunTellsWhenAndHowFast() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("a", as: "1-1-1")
        let fields: HTTPFields = [
            "servicebusnotification-format": "pigeon", "martlet-rollout": "rate=5", "martlet-expires": "PT60S",
        ]
        let run = try await tryOut("/demo/messages?dryrun", fields, of: fixture)
        #expect(run["startsAt"]?.string == fixture.time.now.iso8601)
        #expect(run["expiresAt"]?.string == (fixture.time.now + .seconds(60)).iso8601)
        #expect(run["rollout"]?["spec"] == "rate=5")
    }

    @Test func directAndBatchSendsAreTriedToo() async throws {
        let fixture = try await HubFixture()
        try await fixture.hubs.setCredential(
            Credential(["Whistle": "tweet"]), for: CarrierPigeon.platform, of: "demo")
        let format: HTTPFields = ["servicebusnotification-format": "pigeon"]
        var direct = format
        direct["servicebusnotification-devicehandle"] = "North7"
        let one = try await tryOut("/demo/messages?direct&dryRun=true", direct, of: fixture)
        #expect(one["problems"] == [])
        #expect(one["audience"] == nil)
        #expect(one["platforms"]?["pigeon"]?["targeted"] == 1)
        var batch = format
        batch["content-type"] = "multipart/mixed; boundary=b"
        let parts = [("notification", "coo"), ("devices", #"["a","A","c"]"#)].map { name, text in
            "--b\r\nContent-Disposition: inline; name=\(name)\r\n\r\n\(text)\r\n"
        }
        let many = try await tryOut("/demo/messages/$batch?dryRun", batch, body: parts.joined() + "--b--", of: fixture)
        #expect(many["targeted"] == 2, "a handle that is named twice counts once")
        direct["servicebusnotification-devicehandle"] = "no loft"
        let bad = try await tryOut("/demo/messages?direct&dryRun", direct, of: fixture)
        #expect(bad["isAccepted"] == false)
        #expect(bad["problems"] == ["A loft has 1 to 64 letters and digits."])
    }

    @Test func aRequestThatCannotBeReadIsRefusedAsASendIs() async throws {
        let fixture = try await HubFixture()
        let fields: HTTPFields = ["servicebusnotification-format": "pigeon", "servicebusnotification-tags": "a &&"]
        let response = try await fixture.send(.post, "/demo/messages?dryRun", as: "send", fields: fields, body: "coo")
        #expect(response.status == .badRequest)
        let owl: HTTPFields = ["servicebusnotification-format": "owl"]
        #expect(try await fixture.send(.post, "/demo/messages?dryRun", fields: owl).status == .badRequest)
    }
}
