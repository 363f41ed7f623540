import MartletCore
import MartletHTTP
import MartletModel
import MartletStorage
import MartletTesting
import Testing

@testable import MartletServer

/// Who is found among devices and users.
struct DeviceSearchTests {
    private let directory = TemporaryDirectory()

    private func search(_ text: String, isExact: Bool, in hub: String, _ engine: Engine) async throws -> JSON {
        let configuration = ServerConfiguration(dataDirectory: directory.path, loops: 1)
        let endpoint = PublicEndpoint(publicURL: nil, tls: nil, clear: nil, hostName: nil)
        let router = engine.makeAdminAPI(configuration, endpoint).makeHandler()
        let body: JSON = ["text": .string(text), "isExact": .bool(isExact)]
        let response = await router.respond(
            to: HTTPRequest(.post, "/hubs/\(hub)/devices/search", authority: "admin", body: body.bytes))
        return try JSON(parsing: response.bytes)
    }

    @Test func aUserWithoutADeviceIsFoundInTheHubOfTheAppBackendAlone() async throws {
        let configuration = ServerConfiguration(dataDirectory: directory.path, loops: 1)
        let engine = try await Engine.open(configuration, fallbacks: [:])
        _ = try await engine.hubs.create("shop")
        _ = try await engine.hubs.create("other")
        try await engine.storage.putUser(
            User(name: "Bob", passwordHash: "$", createdAt: Timestamp(seconds: 1_700_000_000)))
        for (text, isExact, hub, found) in [
            ("bob", false, "shop", ["Bob"]), ("bo", false, "shop", ["Bob"]), ("bob", true, "shop", ["Bob"]),
            ("bo", true, "shop", []), ("bobby", false, "shop", []), ("bob", false, "other", []),
        ] {
            let answer = try await search(text, isExact: isExact, in: hub, engine)
            let users = (answer["users"]?.array ?? []).compactMap(\.string)
            #expect(users == found, "\(text) in \(hub)")
            #expect(answer["devices"]?.array?.isEmpty == true)
        }
        await engine.close()
    }
}
