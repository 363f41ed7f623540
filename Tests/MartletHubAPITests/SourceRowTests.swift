import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

/// Pages of another hub's listing.
struct SourceRowTests {
    private func feed(_ count: Int) -> [UInt8] {
        let entry =
            "<entry><content><PigeonRegistrationDescription><RegistrationId>1</RegistrationId>"
            + "<Loft>North1</Loft></PigeonRegistrationDescription></content></entry>"
        let text = "<feed>" + String(repeating: entry, count: count) + "</feed>"
        return Array(text.utf8)
    }

    @Test func aPageHasAtMostAsManyRegistrationsAsWereAskedFor() async throws {
        let fixture = try await HubFixture()
        let platforms = PushPlatformList([CarrierPigeon.self])
        let devices = DeviceRegistry(store: fixture.storage, platforms: platforms, time: fixture.time) { _ in nil }
        let lines = RegistrationLines(devices: devices, platforms: platforms)
        let hub = fixture.hub.id
        #expect(try lines.rows(ofFeed: feed(100), in: hub, atMost: 100).count == 100)
        let error = #expect(throws: JobLineError.self) { try lines.rows(ofFeed: feed(101), in: hub, atMost: 100) }
        #expect(
            error?.sentence
                == "A page of the source has 101 registrations, and 100 were asked for: the source is no hub at Azure.")
    }
}
