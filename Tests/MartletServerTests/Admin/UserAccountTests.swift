import MartletCore
import MartletHTTP
import MartletModel
import MartletStorage
import MartletTesting
import Testing

@testable import MartletServer

/// One user of the app backend: its roles and sessions.
struct UserAccountTests {
    private let directory = TemporaryDirectory()

    @Test func theSessionsOfAUserAreCountedAndEndWhileThePasswordStays() async throws {
        let configuration = ServerConfiguration(dataDirectory: directory.path, loops: 1)
        let engine = try await Engine.open(configuration, fallbacks: [:])
        let endpoint = PublicEndpoint(publicURL: nil, tls: nil, clear: nil, hostName: nil)
        let router = engine.makeAdminAPI(configuration, endpoint).makeHandler()
        func ask(_ method: HTTPMethod, _ path: String) async -> HTTPResponse {
            await router.respond(to: HTTPRequest(method, path, authority: "admin"))
        }
        func sessions() async throws -> Int64? {
            try JSON(parsing: await ask(.get, "/users/bob").bytes)["sessions"]?.integer
        }
        let now = engine.time.now
        try await engine.storage.putUser(User(name: "Bob", passwordHash: "$", createdAt: now))
        _ = try await engine.storage.addRole("editor", to: "bob")
        for (token, seconds) in [(UInt8(1), 3600), (2, 3600), (3, -1)] {
            try await engine.storage.addSession(
                Session(tokenHash: [token], userName: "bob", createdAt: now, expiresAt: now + .seconds(seconds)))
        }
        let document = try JSON(parsing: await ask(.get, "/users/BOB").bytes)
        let expected: JSON = [
            "name": "Bob", "createdAt": .string(now.iso8601), "roles": ["editor"], "sessions": 2,
        ]
        #expect(document == expected)
        #expect(await ask(.delete, "/users/bob/sessions").status == .noContent)
        #expect(try await sessions() == 0)
        #expect(try await engine.storage.user("bob")?.passwordHash == "$")
        #expect(await ask(.get, "/users/eve").status == .notFound)
        #expect(await ask(.delete, "/users/eve/sessions").status == .notFound)
        #expect(await ask(.get, "/users/a%20b").status == .badRequest)
        await engine.close()
    }

    @Test func aNewPasswordWithAConditionAddsNoUser() async throws {
        let configuration = ServerConfiguration(dataDirectory: directory.path, loops: 1)
        let engine = try await Engine.open(configuration, fallbacks: [:])
        let endpoint = PublicEndpoint(publicURL: nil, tls: nil, clear: nil, hostName: nil)
        let router = engine.makeAdminAPI(configuration, endpoint).makeHandler()
        func put(_ body: JSON, if condition: String?) async throws -> (HTTPStatus, JSON) {
            var request = HTTPRequest(.put, "/users/alice", authority: "admin", body: body.bytes)
            request.fields["if-match"] = condition
            let response = await router.respond(to: request)
            return (response.status, try JSON(parsing: response.bytes))
        }
        let gone = try await put(["password": "a"], if: "*")
        #expect(gone.0 == .notFound && gone.1["error"]?.string == "There is no user named 'alice'.")
        #expect(try await engine.storage.user("alice") == nil)
        #expect(try await put(["password": "a"], if: nil) == (.ok, ["isNew": true]))
        let first = try await engine.storage.user("alice")?.passwordHash
        let now = engine.time.now
        try await engine.storage.addSession(
            Session(tokenHash: [1], userName: "alice", createdAt: now, expiresAt: now + .seconds(3600)))
        #expect(try await put(["password": "b", "roles": ["editor"]], if: "*") == (.ok, ["isNew": false]))
        let user = try #require(try await engine.storage.user("alice"))
        #expect(user.passwordHash != first && user.roles == ["editor"])
        #expect(try await engine.storage.sessionCount(of: "alice", at: now) == 0)
        #expect(try await put(["password": "c"], if: "\"1\"").0 == .badRequest)
        #expect(try await put(["password": ""], if: "*").0 == .badRequest)
        #expect(try await engine.storage.user("alice")?.passwordHash == user.passwordHash)
        await engine.close()
    }
}
