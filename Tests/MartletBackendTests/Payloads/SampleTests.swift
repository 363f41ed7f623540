import MartletHTTP
import MartletModel
import Testing

@testable import MartletBackend

/// The bare request of the original guides' apps.
struct SampleTests {
    func fixture(_ sample: SampleNotification?) async throws -> Fixture {
        let fixture = try await Fixture(settings: BackendSettings(payloads: PayloadSettings(sample: sample)))
        _ = try await fixture.register("alices", as: "alice")
        _ = try await fixture.register("bobs", as: "bob")
        return fixture
    }

    @Test func withoutTheSettingTheRoutesAreNamed() async throws {
        let fixture = try await fixture(nil)
        let response = await fixture.ask(.post, "/api/notifications", as: "alice")
        #expect(response.status == .badRequest)
        #expect(response.message.contains("/api/notifications/rich"))
        #expect(response.message.contains("/api/notifications/secure"))
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test(arguments: ["", "null", "not JSON", #"{"to":"bob"}"#])
    func aSecretOfOursGoesToTheCallersDevices(body: String) async throws {
        let fixture = try await fixture(.secure)
        let response = await fixture.ask(.post, "/api/notifications", as: "alice", body)
        #expect(response.status == .ok)
        let id = try #require(response.payloadID)
        #expect(fixture.pushes == [["secureId: \(id)"]])
        #expect(try await fixture.audience(of: fixture.sent.deliveries[0]) == ["alices"])
        let fetched = await fixture.ask(.get, "/api/notifications/\(id)", as: "alice")
        #expect(try fetched.json["Payload"] == "Secure confirmation.")
        #expect(await fixture.ask(.get, "/api/notifications/\(id)", as: "bob").status == .notFound)
    }

    @Test func anImageOfOursGoesToTheCallersDevices() async throws {
        let fixture = try await fixture(.rich)
        let response = await fixture.ask(.post, "/api/notifications", as: "alice")
        #expect(response.status == .ok)
        let id = try #require(response.payloadID)
        #expect(fixture.pushes == [["richId: \(id)", "richMessage: Here is a picture for you.", "richType: img"]])
        let fetched = await fixture.ask(.get, "/api/notifications/\(id)", as: "alice")
        #expect(fetched.fields["content-type"] == "image/png")
        #expect(try await fetched.content.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    }

    @Test func withPlatformAndRecipientItIsAText() async throws {
        let fixture = try await fixture(.rich)
        let response = await fixture.ask(.post, "/api/notifications?pns=pigeon&to_tag=bob", as: "alice", #""hello""#)
        #expect(response.status == .ok)
        #expect(fixture.pushes == [["From alice: hello"]])
    }
}
