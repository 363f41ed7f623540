import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

struct SendingTests {
    private let pigeon: HTTPFields = ["servicebusnotification-format": "pigeon"]

    private func fields(_ more: HTTPFields) -> HTTPFields {
        var fields = pigeon
        for field in more { fields.append(field) }
        return fields
    }

    // MARK: Canaries

    @Test(arguments: ["first=5", "first=6; wait=PT10M", "first=5; halt=2%", "rate=5"])
    func aKeyBelongsToOneRollOut(other: String) async throws {
        let fixture = try await HubFixture()
        let key: HTTPFields = ["idempotency-key": "k", "martlet-rollout": "first=5; wait=PT10M"]
        let first = try await fixture.send(.post, "/demo/messages", fields: fields(key), body: "coo")
        #expect(first.status == .created)
        let again = try await fixture.send(.post, "/demo/messages", fields: fields(key), body: "coo")
        #expect(again.fields["location"] == first.fields["location"])
        let changed: HTTPFields = ["idempotency-key": "k", "martlet-rollout": other]
        let refused = try await fixture.send(.post, "/demo/messages", fields: fields(changed), body: "coo")
        #expect(refused.status.code == 422)
    }

    @Test func statusTellsOfACanaryThatHolds() async throws {
        let fixture = try await HubFixture()
        for number in 1...3 { try await fixture.register("loft\(number)", as: "\(number)") }
        let canary: HTTPFields = ["martlet-rollout": "first=1; wait=PT10M"]
        _ = try await fixture.send(.post, "/demo/messages", fields: fields(canary), body: "coo")
        let delivery = try await fixture.storage.unfinished(after: .none, limit: 1)[0].delivery
        let path = "/demo/messages/\(delivery.notification.id)"
        let before = try JSON(parsing: try await fixture.send(.get, "\(path)/status").bytes)
        #expect(before["control"] == "running")
        #expect(before["partsWaiting"] == 1)
        var step = DeliveryStep(
            delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: fixture.time.now,
            counts: [.success: 1])
        step.sampleEndsAt = fixture.time.now
        try await fixture.storage.record(step)
        let holding = try JSON(parsing: try await fixture.send(.get, "\(path)/status").bytes)
        #expect(holding["control"] == "holding")
        #expect(holding["state"] == "Processing")
        #expect(holding["goesOnAt"]?.string == (fixture.time.now + .seconds(600)).iso8601)
        #expect(holding["sample"]?["succeeded"] == 1)
        #expect(holding["sample"]?["size"] == 1)
        #expect(holding["waitsFor"] == nil)
        let resumed = try JSON(parsing: try await fixture.send(.post, "\(path)/resume", as: "send").bytes)
        #expect(resumed["control"] == "running")
        #expect(resumed["goesOnAt"] == nil)
    }

    @Test func aCanaryThatHasExpiredIsAbandonedEverywhereAndNothingHoldsItAnyMore() async throws {
        let fixture = try await HubFixture()
        for number in 1...3 { try await fixture.register("loft\(number)", as: "\(number)") }
        let canary: HTTPFields = ["martlet-rollout": "first=1"]
        _ = try await fixture.send(.post, "/demo/messages", fields: fields(canary), body: "coo")
        let sample = try await fixture.storage.unfinished(after: .none, limit: 1)[0].delivery
        let path = "/demo/messages/\(sample.notification.id)"
        var step = DeliveryStep(
            delivery: sample.id, isFannedOut: true, state: .completed, endedAt: fixture.time.now, counts: [.success: 1])
        step.sampleEndsAt = fixture.time.now
        try await fixture.storage.record(step)
        let paused = try JSON(parsing: try await fixture.send(.post, "\(path)/pause", as: "send").bytes)
        #expect(paused["control"] == "paused")
        let expiry = sample.notification.expiresAt
        let rest = try #require(try await fixture.storage.release(due: expiry, limit: 1).deliveries.first)
        try await fixture.storage.record(
            DeliveryStep(
                delivery: rest.id, isFannedOut: true, state: .abandoned, endedAt: expiry, counts: [.abandoned: 2]))
        let status = try JSON(parsing: try await fixture.send(.get, "\(path)/status").bytes)
        #expect(status["state"] == "Abandoned")
        #expect(status["platforms"]?["pigeon"]?["state"] == "Abandoned")
        #expect(status["control"] == JSON.null)
        #expect(try await fixture.send(.get, path).element("State") == "Abandoned")
    }

    // MARK: Settings

    @Test func theSendingSettingsOfAHubAreKept() async throws {
        let fixture = try await HubFixture()
        let nothing = try await fixture.send(.get, "/demo/sending")
        #expect(
            try JSON(parsing: nothing.bytes) == ["testers": JSON.null, "app": ["name": JSON.null, "icon": JSON.null]])
        let body = #"{"testers": "internal && !beta", "app": {"name": "Shop", "icon": "https://shop.example/i.png"}}"#
        #expect(try await fixture.send(.put, "/demo/sending", body: body).status == .ok)
        let found = try await fixture.send(.get, "/demo/sending")
        #expect(try JSON(parsing: found.bytes) == JSON(parsing: Array(body.utf8)))
        #expect(try await fixture.send(.put, "/demo/sending", body: #"{"testers": "a"}"#).status == .ok)
        #expect(fixture.hubs.hub(named: "demo")?.settings.sending == SendingSettings(testers: "a"))
    }

    @Test(arguments: [
        ("[]", "must be a JSON object"), (#"{"tester": "a"}"#, "no member 'tester'"),
        (#"{"app": {"nam": "a"}}"#, "no member 'app.nam'"), (#"{"testers": 1}"#, "must be a text or null"),
        (#"{"testers": "a &&"}"#, "not a tag expression"), (#"{"app": "a"}"#, "must be an object"),
        (#"{"app": {"icon": "http://a.example/"}}"#, "https address"), (#"{"app": {"name": ""}}"#, "1 to 64"),
    ])
    func aMistakeInThemIsToldAndChangesNothing(body: String, words: String) async throws {
        let fixture = try await HubFixture()
        let response = try await fixture.send(.put, "/demo/sending", body: body)
        #expect(response.status == .badRequest)
        #expect(response.text.contains(words), "\(response.text)")
        #expect(fixture.hubs.hub(named: "demo")?.settings.sending == SendingSettings())
    }

    @Test func theyNeedTheRightToManage() async throws {
        let fixture = try await HubFixture()
        for method in [HTTPMethod.get, .put] {
            #expect(try await fixture.send(method, "/demo/sending", as: "send", body: "{}").status == .forbidden)
        }
        #expect(try await fixture.send(.get, "/demo/schedulednotifications", as: "send").status == .forbidden)
    }

    // MARK: Schedules

    @Test func schedulesAreListedByTimeInPages() async throws {
        let fixture = try await HubFixture()
        for number in (1...101).reversed() {
            let due = (fixture.time.now + .seconds(Int64(number) * 60)).iso8601
            let more: HTTPFields = ["servicebusnotification-scheduletime": due, "servicebusnotification-tags": "a"]
            let response = try await fixture.send(
                .post, "/demo/schedulednotifications", fields: fields(more), body: "coo \(number)")
            #expect(response.status == .created)
        }
        let first = try JSON(parsing: try await fixture.send(.get, "/demo/schedulednotifications").bytes)
        let shown = first["schedules"]?.array ?? []
        #expect(shown.map { $0["body"]?.string } == (1...100).map { "coo \($0)" })
        #expect(shown.first?["tags"] == "a")
        #expect(shown.first?["format"] == "pigeon")
        let next = try #require(first["continuation"]?.string)
        let rest = try await fixture.send(.get, "/demo/schedulednotifications?continuation=\(next)")
        let last = try JSON(parsing: rest.bytes)
        #expect(last["schedules"]?.array?.map { $0["body"]?.string } == ["coo 101"])
        #expect(last["continuation"] == nil)
        let from = (fixture.time.now + .seconds(600)).iso8601
        let to = (fixture.time.now + .seconds(720)).iso8601
        let some = try await fixture.send(.get, "/demo/schedulednotifications?from=\(from)&to=\(to)")
        #expect(try JSON(parsing: some.bytes)["schedules"]?.array?.map { $0["body"]?.string } == ["coo 10", "coo 11"])
    }

    @Test func confidentialAndWithdrawnContentIsNotShown() async throws {
        let fixture = try await HubFixture()
        let due = (fixture.time.now + .seconds(60)).iso8601
        let more: HTTPFields = ["servicebusnotification-scheduletime": due, "martlet-confidential": "true"]
        let sent = try await fixture.send(.post, "/demo/schedulednotifications", fields: fields(more), body: "secret")
        let listed = try await fixture.send(.get, "/demo/schedulednotifications")
        #expect(!listed.text.contains("secret"))
        let shown = try JSON(parsing: listed.bytes)["schedules"]?.array ?? []
        let id = try #require(shown.first?["notification"]?.string)
        #expect(sent.fields["location"]?.contains(id) == true)
        #expect(try await fixture.send(.delete, "/demo/schedulednotifications/\(id)").status == .ok)
        let left = try await fixture.send(.get, "/demo/schedulednotifications")
        #expect(try JSON(parsing: left.bytes)["schedules"]?.array?.isEmpty == true)
    }

    @Test(arguments: ["from=yesterday", "to=1", "continuation=x", "continuation=1.2.3"])
    func aQueryThatIsNoneIsRefused(query: String) async throws {
        let fixture = try await HubFixture()
        let response = try await fixture.send(.get, "/demo/schedulednotifications?\(query)")
        #expect(response.status == .badRequest)
    }
}
