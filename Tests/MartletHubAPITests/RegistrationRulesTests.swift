import Foundation
import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

/// Lives of registrations, and what they have in common with installations.
struct RegistrationRulesTests {
    private static let gcm =
        "<GcmRegistrationDescription><GcmRegistrationId>t</GcmRegistrationId></GcmRegistrationDescription>"

    private func ids(_ response: HTTPResponse) -> [String] {
        response.text.components(separatedBy: "<RegistrationId>").dropFirst().map { String($0.prefix { $0 != "<" }) }
    }

    @Test func aRegistrationEndsWhenItsHubSays() async throws {
        let fixture = try await HubFixture()
        _ = try await fixture.hubs.update("demo") { $0.registrationTTL = .seconds(2 * 86_400) }
        // What a client says of it is only an echo.
        let body = Self.gcm.replacing("<GcmRegistrationId>", with: "<ExpirationTime/><GcmRegistrationId>")
        let response = try await fixture.send(.put, "/demo/registrations/1", body: body)
        #expect(response.element("ExpirationTime") == "2026-01-03T00:00:00.000Z")
        fixture.time.advance(by: .seconds(2 * 86_400))
        #expect(try await fixture.send(.get, "/demo/registrations/1").status == .notFound)
    }

    @Test func rowsOfAnInstallationAreListedAndChangeWithItAlone() async throws {
        let fixture = try await HubFixture()
        let platform = PlatformID(rawValue: "gcm")
        let tags = try [Tag("$InstallationId:{i1}"), Tag("$UserId:{user1}"), Tag("a")]
        let draft = RegistrationDraft(platform: platform, handle: PushHandle("t"), handleKey: "t", tags: tags)
        var template = draft
        template.template = Template(name: "news", body: "{}")
        let rows = [
            InstallationRow(slot: "native", registration: draft),
            InstallationRow(slot: "news", registration: template),
        ]
        _ = try await fixture.storage.apply(
            InstallationChange.put(
                InstallationDraft(id: "i1", document: [], expiresAt: nil, rows: rows), condition: .none),
            in: fixture.hub.id, at: HubFixture.start
        ).get()
        let all = try await fixture.send(.get, "/demo/registrations")
        #expect(all.count(of: "<Tags>$InstallationId:{i1},$UserId:{user1},a</Tags>") == 2)
        #expect(all.count(of: "<GcmTemplateRegistrationDescription ") == 1)
        let found = ids(all)
        #expect(found.count == 2)
        for id in found {
            #expect(try await fixture.send(.get, "/demo/registrations/\(id)").status == .ok)
            for (method, body) in [(HTTPMethod.put, Self.gcm), (.delete, "")] {
                #expect(try await fixture.send(method, "/demo/registrations/\(id)", body: body).status == .ok)
            }
        }
    }

    @Test("Pages show every registration that stays, once, while others come, change and go")
    func pagesStayRightWhileRegistrationsChange() async throws {
        let fixture = try await HubFixture()
        for number in 10..<40 { try await fixture.register("loft\(number)", as: "\(number)") }
        var found: [String] = []
        var query = "$top=4"
        var page = 0
        repeat {
            let response = try await fixture.send(.get, "/demo/registrations?\(query)")
            found += ids(response)
            // One that was shown and one that was not go, others change, and new ones come.
            _ = try await fixture.send(.delete, "/demo/registrations/\(10 + 2 * page)")
            _ = try await fixture.send(.delete, "/demo/registrations/\(39 - page)")
            try await fixture.register("loft\(11 + 2 * page)", as: "\(11 + 2 * page)", tags: "changed")
            try await fixture.register("new\(page)", as: "\(100 + page)")
            page += 1
            query = response.fields["x-ms-continuationtoken"].map { "$top=4&continuationtoken=\($0)" } ?? ""
        } while !query.isEmpty && page < 30
        #expect(query.isEmpty)
        #expect(Set(found).count == found.count)
        let left = Set(try await ids(fixture.send(.get, "/demo/registrations?$top=100")))
        let stayed = (10..<40).map(String.init).filter(left.contains)
        #expect(stayed.allSatisfy(found.contains))
    }

    @Test func aNotificationForAPlatformThatNothingSendsToIsAccepted() async throws {
        let fixture = try await HubFixture()
        let response = try await fixture.send(
            .post, "/demo/messages", fields: ["servicebusnotification-format": "xiaomi"], body: #"{"title":"t"}"#)
        #expect(response.status == .created)
    }
}
