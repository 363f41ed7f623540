import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

struct UserGroupsTests {
    private func groups(_ fixture: Fixture) -> UserGroups {
        UserGroups(users: fixture.users, devices: fixture.devices, hub: BackendHub(fixture.hubs))
    }

    private func tags(_ id: String, _ fixture: Fixture) async throws -> [String] {
        try #require(try await fixture.registration(id)).tags.map(\.spelling)
    }

    @Test(arguments: ["group:board", "GROUP:board", "Group:", "group:a:b"])
    func noAppPutsItselfIntoAGroup(tag: String) async throws {
        let fixture = try await Fixture()
        let id = try await fixture.newID(as: "bob")
        let response = await fixture.put(id, "bob1", as: "bob", tags: ["news", tag])
        #expect(response.status == .badRequest)
        #expect(response.message == "Tags that begin with 'group:' are the server's to give.")
        #expect(try await fixture.registration(id) == nil)
    }

    @Test func devicesOfNowAndLaterGetTheTagAndLoseIt() async throws {
        let fixture = try await Fixture()
        let early = try await fixture.register("bob1", as: "bob", tags: ["news"])
        let other = try await fixture.register("carol1", as: "carol")
        try await groups(fixture).add("board", to: "Bob")
        #expect(try await tags(early, fixture) == ["username:bob", "news", "group:board"])
        let late = try await fixture.register("bob2", as: "bob")
        #expect(try await tags(late, fixture) == ["username:bob", "group:board"])
        _ = await fixture.put(early, "bob1", as: "bob", tags: ["sport"])
        #expect(try await tags(early, fixture) == ["username:bob", "group:board", "sport"])
        #expect(try await tags(other, fixture) == ["username:carol"])
        try await groups(fixture).remove("board", from: "bob")
        #expect(try await tags(early, fixture) == ["username:bob", "sport"])
        #expect(try await tags(late, fixture) == ["username:bob"])
        _ = await fixture.put(late, "bob2", as: "bob")
        #expect(try await tags(late, fixture) == ["username:bob"])
    }

    @Test func aSecretForAGroupIsReadByItsMembersAlone() async throws {
        let fixture = try await Fixture()
        try await fixture.users.addRole("admin", to: "alice")
        try await groups(fixture).add("board", to: "bob")
        _ = try await fixture.register("bob1", as: "bob")
        _ = try await fixture.register("carol1", as: "carol", tags: ["board"])
        let body: JSON = ["tags": "group:board", "payload": "for the board"]
        let id = try #require(await fixture.sendJSON("secure", body, as: "alice").payloadID)
        #expect(try await fixture.audience(of: try #require(fixture.sent.deliveries.first)) == ["bob1"])
        #expect(await fixture.ask(.get, "/api/notifications/\(id)", as: "bob").status == .ok)
        #expect(await fixture.ask(.get, "/api/notifications/\(id)", as: "carol").status == .notFound)
    }

    @Test func aDeviceWithoutRoomForTheTagIsReported() async throws {
        let fixture = try await Fixture()
        _ = try await fixture.register("bob1", as: "bob", tags: (1..<Tag.countLimit).map { "t\($0)" })
        let small = try await fixture.register("bob2", as: "bob")
        await #expect(throws: UserDirectoryError.self) { try await groups(fixture).add("board", to: "bob") }
        #expect(try await tags(small, fixture) == ["username:bob", "group:board"])
    }

    @Test func groupsNeedAUserAndAName() async throws {
        let fixture = try await Fixture()
        for group in ["", "Board", "a b", "a:b", String(repeating: "g", count: 65)] {
            await #expect(throws: UserDirectoryError.self) { try await groups(fixture).add(group, to: "bob") }
        }
        await #expect(throws: UserDirectoryError.self) { try await groups(fixture).add("board", to: "nobody") }
        await #expect(throws: UserDirectoryError.self) { try await fixture.users.addRole("group:board", to: "bob") }
    }

    @Test func aGroupIsNoRoleThatAllowsAnything() async throws {
        let fixture = try await Fixture()
        try await groups(fixture).add("admin", to: "bob")
        let body: JSON = ["tags": "news", "payload": "x"]
        #expect(await fixture.sendJSON("secure", body, as: "bob").status == .forbidden)
    }
}
