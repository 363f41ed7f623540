import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

struct LimitTests {
    /// The fixture with a limit of one request a second, ten at once, for each key of the hub.
    private func fixture() async throws -> HubFixture {
        let fixture = try await HubFixture()
        _ = try await fixture.hubs.update("demo") { $0.limits.requestRate = 1 }
        return fixture
    }

    private func drain(_ fixture: HubFixture, as rule: String = "manage") async throws {
        for _ in 0..<10 {
            #expect(try await fixture.send(.get, "/demo/registrations", as: rule).status == .ok)
        }
    }

    @Test func aRequestOverTheRateIsRefusedWithRetryAfterAndChangesNothing() async throws {
        let fixture = try await fixture()
        try await drain(fixture)
        let refused = try await fixture.send(
            .post, "/demo/messages", fields: ["servicebusnotification-format": "pigeon"], body: "coo")
        #expect(refused.status == .tooManyRequests)
        #expect(refused.fields["retry-after"] == "1")
        #expect(refused.element("Code") == "429")
        #expect(refused.element("Detail")?.contains("SubCode=42900. The access key makes more than 1 requests") == true)
        #expect(try await fixture.storage.unfinished(after: .none, limit: 1).isEmpty)
        fixture.time.advance(by: .seconds(1))
        #expect(try await fixture.send(.get, "/demo/registrations").status == .ok)
    }

    @Test func oneKeyTakesNothingOfAnothers() async throws {
        let fixture = try await fixture()
        try await drain(fixture)
        #expect(try await fixture.send(.post, "/demo/registrationids", as: "listen").status == .created)
        #expect(try await fixture.send(.get, "/demo/registrations", as: AccessRule.rootName).status == .ok)
    }

    @Test func withoutTheKeyNobodyUsesItUp() async throws {
        let fixture = try await fixture()
        let forged = try HubFixture.token("manage", key: "Z3Vlc3NlZA==")
        for _ in 0..<50 {
            let answer = try await fixture.send(.get, "/demo/registrations", fields: ["authorization": forged])
            #expect(answer.status == .unauthorized)
        }
        try await drain(fixture)
    }

    @Test func aFullBacklogRefusesSendsAndNothingElse() async throws {
        let fixture = try await HubFixture()
        _ = try await fixture.hubs.update("demo") { $0.limits.backlog = 2 }
        try await fixture.register("north", as: "1")
        let format: HTTPFields = ["servicebusnotification-format": "pigeon"]
        for _ in 0..<2 {
            #expect(try await fixture.send(.post, "/demo/messages", fields: format, body: "coo").status == .created)
        }
        let refused = try await fixture.send(.post, "/demo/messages", fields: format, body: "coo")
        #expect(refused.status == .tooManyRequests)
        #expect(refused.fields["retry-after"] == "10")
        #expect(refused.text.contains("as many unfinished notifications as it may have"))
        #expect(try await fixture.storage.unfinished(after: .none, limit: 10).count == 2)
        try await fixture.register("south", as: "2")
        #expect(try await fixture.send(.get, "/demo/registrations").status == .ok)
        let first = try #require(try await fixture.storage.unfinished(after: .none, limit: 1).first).delivery
        try await fixture.storage.record(
            DeliveryStep(
                delivery: first.id, isFannedOut: true, state: .completed, endedAt: fixture.time.now))
        #expect(try await fixture.send(.post, "/demo/messages", fields: format, body: "coo").status == .created)
    }

    @Test(arguments: [0, -1, 1_000_001])
    func limitsAreNumbersThatMakeSense(rate: Int) async throws {
        let fixture = try await HubFixture()
        await #expect(throws: HubDirectoryError.self) {
            _ = try await fixture.hubs.update("demo") { $0.limits.requestRate = rate }
        }
    }
}
