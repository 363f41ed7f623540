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

    @Test func aUserHasALimitedNumberOfDevicesAndMayChangeAndReplaceThem() async throws {
        let fixture = try await Fixture()
        for number in 0..<RegisterRoutes.deviceLimit {
            #expect(await fixture.put("1-\(number)", "loft\(number)", as: "alice").status == .ok)
        }
        let refused = await fixture.put("1-more", "more", as: "Alice")
        #expect(refused.status == .forbidden)
        #expect(try refused.json["code"] == 40305)
        #expect(try await fixture.registration("1-more") == nil)
        #expect(await fixture.put("1-0", "other", as: "alice").status == .ok)
        #expect(await fixture.put("1-bob", "more", as: "bob").status == .ok)
        #expect(await fixture.ask(.delete, "/api/register/1-1", as: "alice").status == .ok)
        #expect(await fixture.put("1-new", "new", as: "alice").status == .ok)
    }

    @Test func aUserWhoseDevicesChangeWithoutEndWaits() async throws {
        let fixture = try await Fixture()
        let tags = (0..<50).map { "tag-\($0)-" + String(repeating: "x", count: 100) }
        func change(as user: String) async -> HTTPResponse {
            await fixture.put("1-\(user)", "loft\(user)", as: user, tags: tags)
        }
        var count = 0
        while count < 1_000, await change(as: "alice").status == .ok { count += 1 }
        #expect((100..<300).contains(count))
        let refused = await change(as: "alice")
        #expect(refused.status == .tooManyRequests)
        #expect(try refused.json["code"] == 42904)
        let wait = try #require(refused.fields["retry-after"].flatMap { Int($0) })
        #expect(await change(as: "bob").status == .ok)
        fixture.time.advance(by: .seconds(wait))
        #expect(await change(as: "alice").status == .ok)
    }

    @Test func aCompressedBodyIsRefused() async throws {
        let fixture = try await Fixture()
        let refused = await fixture.ask(
            .put, "/api/register/1-1", as: "alice", #"{"Platform":"pigeon","Handle":"a1"}"#,
            fields: ["content-encoding": "gzip"])
        #expect(refused.status.code == 415)
        #expect(try refused.json["code"] == 41501)
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
