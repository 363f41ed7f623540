import MartletCore
import MartletHTTP
import MartletModel
import MartletStorage
import MartletTesting
import Testing

@testable import MartletServer

/// The routes of the administration API that control a send or repeat it have no dry run and no test.
struct TrialRefusalTests {
    private let directory = TemporaryDirectory()

    @Test(arguments: ["dryRun", "dry-run=1", "test"])
    func whatIsToBeTriedIsRefusedAndChangesNothing(item: String) async throws {
        let configuration = ServerConfiguration(dataDirectory: directory.path, loops: 1)
        let engine = try await Engine.open(configuration, fallbacks: [:])
        let endpoint = PublicEndpoint(publicURL: nil, tls: nil, clear: nil, hostName: nil)
        let router = engine.makeAdminAPI(configuration, endpoint).makeHandler()
        let hub = try await engine.hubs.create("shop")
        let id = try await engine.notifications.accept(
            .template(properties: Array(#"{"message": "hello"}"#.utf8)), to: .audience(nil), in: hub.id,
            dueAt: engine.time.now + .seconds(3600))
        func ask(_ path: String) async -> HTTPResponse {
            await router.respond(to: HTTPRequest(.post, "/hubs/shop/messages/\(id)/\(path)", authority: "admin"))
        }
        let name = String(item.prefix { $0 != "=" })
        for path in ["pause", "resume", "cancel", "deadletters/resend"] {
            let refused = await ask("\(path)?\(item)")
            #expect(refused.status == .badRequest, "\(path)")
            let sentence = try JSON(parsing: refused.bytes)["error"]?.string ?? ""
            #expect(sentence.contains("leave out the query item '\(name)'; nothing was done."), "\(path)")
        }
        #expect(try await engine.controls.status(of: id, in: hub.id)?.control == .running)
        #expect(await ask("cancel").status == .ok)
        #expect(try await engine.controls.status(of: id, in: hub.id)?.control == .canceled)
        await engine.close()
    }
}
