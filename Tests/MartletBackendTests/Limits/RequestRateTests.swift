import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

struct RequestRateTests {
    @Test func aUserWhoAsksTooOftenWaitsAndOthersDoNot() async throws {
        let fixture = try await Fixture(
            settings: BackendSettings(requestRate: RequestRate(perSecond: 1, burst: 3)))
        for _ in 0..<3 { #expect(await fixture.ask(.post, "/api/register", as: "alice").status == .ok) }
        let refused = await fixture.ask(.post, "/api/notifications?pns=pigeon&to_tag=bob", as: "Alice", "\"hi\"")
        #expect(refused.status == .tooManyRequests)
        #expect(refused.fields["retry-after"] == "1")
        #expect(try refused.json["code"] == 42902)
        #expect(fixture.sent.deliveries.isEmpty)
        #expect(await fixture.ask(.post, "/api/register", as: "bob").status == .ok)
        fixture.time.advance(by: .seconds(1))
        #expect(await fixture.ask(.post, "/api/register", as: "alice").status == .ok)
    }

    @Test func anUnauthenticatedCallerUsesNothingUp() async throws {
        let fixture = try await Fixture(
            settings: BackendSettings(requestRate: RequestRate(perSecond: 1, burst: 1)))
        for _ in 0..<3 {
            let fields: HTTPFields = ["authorization": fixture.basic("alice", "wrong")]
            #expect(await fixture.ask(.post, "/api/register", fields: fields).status == .unauthorized)
        }
        #expect(await fixture.ask(.post, "/api/register", as: "alice").status == .ok)
    }
}
