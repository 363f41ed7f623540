import MartletCore
import MartletModel
import Testing

@testable import MartletServer

/// Which sends meant a device, by its tags at the time.
struct DeviceAudienceTests {
    private static let start = Timestamp(seconds: 1_700_000_000)

    private func version(
        _ tags: [String], from: Int = 0, until: Int? = nil, template: Template? = nil
    ) throws -> RegistrationVersion {
        let registration = Registration(
            id: "phone", platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("h"),
            tags: try tags.map { try Tag($0) }, template: template, version: 1, expiresAt: nil,
            createdAt: Self.start + .seconds(from), updatedAt: Self.start)
        let end = until.map { RegistrationVersion.End(change: 1, at: Self.start + .seconds($0), cause: .changed) }
        return RegistrationVersion(sequence: 1, channel: ChannelID(rawValue: 1), registration, end: end)
    }

    private func target(_ expression: String?, at second: Int, on platform: String? = "pigeon") -> SendTarget {
        SendTarget(
            sequence: 1, id: NotificationID(at: Self.start), at: Self.start + .seconds(second),
            platform: platform.map { PlatformID(rawValue: $0) }, expression: expression)
    }

    @Test func theTagsOfTheTimeDecide() throws {
        var audience = DeviceAudience([try version(["news"], until: 100), try version(["sport"])])
        for (expression, second, isMeant) in [
            ("news", 50, true), ("news", 150, false), ("sport", 50, false), ("sport", 150, true),
            ("news && !sport", 50, true), (nil, 50, true), (nil, -10, false),
        ] {
            let found = audience.registration(targetedBy: target(expression, at: second))
            #expect((found == "phone") == isMeant, "\(expression ?? "everybody") at \(second)")
        }
    }

    @Test func aNativeSendMeansNoTemplateAndNoOtherPlatform() throws {
        var audience = DeviceAudience([try version([])])
        #expect(audience.registration(targetedBy: target(nil, at: 1, on: "parrot")) == nil)
        #expect(audience.registration(targetedBy: target(nil, at: 1, on: nil)) == "phone")
    }

    @Test func anExpressionThatCannotBeReadMeansNobody() throws {
        var audience = DeviceAudience([try version(["news"])])
        for _ in 0..<2 { #expect(audience.registration(targetedBy: target("news &&", at: 1)) == nil) }
    }
}
