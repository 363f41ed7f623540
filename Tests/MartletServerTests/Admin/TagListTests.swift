import MartletCore
import MartletHTTP
import MartletModel
import MartletStorage
import MartletTesting
import Testing

@testable import MartletServer

/// Which tags are listed, and what the positions of pages reveal.
struct TagListTests {
    private let directory = TemporaryDirectory()

    private static let personal = [
        "username:alice", "username:bob", "from:alice", "x:username:carol", "$InstallationId:{seven}",
        "$RegistrationId:{eight}",
    ]
    private static let others = ["city:oslo", "news", "valid-from:2026", "zebra"]

    /// Returns all names of a list and the whole text of its pages.
    private func walk(_ query: String, _ router: any HTTPHandler) async throws -> (names: [String], text: String) {
        var (names, text): ([String], String) = ([], "")
        var after: String?
        repeat {
            let position = after.map { "&after=\(PercentEncoding.encode($0))" } ?? ""
            let response = await router.respond(
                to: HTTPRequest(.get, "/hubs/shop/tags?\(query)\(position)", authority: "admin"))
            let page = try JSON(parsing: response.bytes)
            names += (page["tags"]?.array ?? []).compactMap(\.string)
            text += String(decoding: response.bytes, as: UTF8.self)
            after = page["next"]?.string
        } while after != nil
        return (names, text)
    }

    @Test func aListWithoutPersonalTagsRevealsNoneOfThemByItsPositionsEither() async throws {
        let configuration = ServerConfiguration(dataDirectory: directory.path, loops: 1)
        let engine = try await Engine.open(configuration, fallbacks: [:])
        let hub = try await engine.hubs.create("shop")
        for (index, tag) in (Self.personal + Self.others).enumerated() {
            let draft = RegistrationDraft(
                platform: PlatformID(rawValue: "apns"), handle: PushHandle("h\(index)"), handleKey: "h\(index)",
                tags: [try Tag(tag)], template: nil, pushVariables: [:], expiresAt: nil, takesHandle: false)
            _ = try await engine.storage.apply(
                .put(draft, id: "\(index)", condition: .none), in: hub.id, at: engine.time.now
            ).get()
        }
        let endpoint = PublicEndpoint(publicURL: nil, tls: nil, clear: nil, hostName: nil)
        let router = engine.makeAdminAPI(configuration, endpoint).makeHandler()
        for prefix in ["", "u", "username:", "username:a", "from:", "x", "$", "$i", "n"] {
            let beginning = "prefix=\(PercentEncoding.encode(prefix))"
            for limit in [1, 2, 50] {
                let list = try await walk("personal=no&personal=yes&\(beginning)&limit=\(limit)", router)
                #expect(list.names == Self.others.filter { $0.hasPrefix(prefix) }, "\(prefix) by \(limit)")
                for name in ["alice", "bob", "carol", "seven", "eight"] {
                    #expect(!list.text.contains(name), "\(prefix) by \(limit): \(list.text)")
                }
            }
        }
        #expect(try await walk("prefix=username:&limit=1", router).names == ["username:alice", "username:bob"])
        #expect(try await walk("prefix=$&limit=1", router).names.count == 2)
        await engine.close()
    }
}
