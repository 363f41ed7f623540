import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletBackend

struct RoleTests {
    private func authenticator(_ fixture: Fixture) throws -> Authenticator {
        try Authenticator(
            users: fixture.users, provider: nil, time: fixture.time, sessionLifetime: .seconds(60),
            limits: LoginLimiter.Settings())
    }

    private func request(_ authorization: String) -> HTTPRequest {
        HTTPRequest(.get, "/", fields: ["authorization": authorization])
    }

    @Test func rolesComeWithThePasswordAndWithTheSessionAsTheyAreNow() async throws {
        let fixture = try await Fixture()
        let authenticator = try authenticator(fixture)
        let basic = request(fixture.basic("alice", "alice1"))
        let session = try await authenticator.openSession("alice", password: "alice1", from: basic)
        let bearer = request("Bearer \(session.token)")
        #expect(try await authenticator.caller(of: bearer).roles == [])
        try await fixture.users.addRole("admin", to: "ALICE")
        for request in [basic, bearer] { #expect(try await authenticator.caller(of: request).roles == ["admin"]) }
        try await fixture.users.removeRole("admin", from: "alice")
        for request in [basic, bearer] { #expect(try await authenticator.caller(of: request).roles == []) }
    }

    @Test func aUserIsAddedWithRolesAndKeepsThemWithANewPassword() async throws {
        let fixture = try await Fixture()
        try await fixture.users.add("Dora", password: "x", roles: ["admin"])
        try await fixture.users.add("dora", password: "y")
        #expect(try await fixture.users.list().last?.roles == ["admin"])
    }

    @Test(arguments: ["", "Admin", "a b", "a,b", String(repeating: "a", count: 65)])
    func aRoleIsAWord(role: String) async throws {
        let fixture = try await Fixture()
        await #expect(throws: UserDirectoryError.self) { try await fixture.users.addRole(role, to: "alice") }
        await #expect(throws: UserDirectoryError.self) {
            try await fixture.users.add("dora", password: "x", roles: [role])
        }
        #expect(try await fixture.users.list().count == 3)
    }

    @Test func anUnknownUserHasNoRoles() async throws {
        let fixture = try await Fixture()
        await #expect(throws: UserDirectoryError.self) { try await fixture.users.addRole("admin", to: "dora") }
        await #expect(throws: UserDirectoryError.self) { try await fixture.users.removeRole("admin", from: "dora") }
    }
}
