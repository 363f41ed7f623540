import MartletHTTP
import MartletModel
import MartletOpenAPI
import MartletTesting
import Testing

@testable import MartletConsole
@testable import MartletServer

/// The descriptions of the administration API and of the console's API are complete.
struct AdminDescriptionTests {
    private let directory = TemporaryDirectory()

    private func withEngine(_ work: (Engine, ServerConfiguration) async throws -> Void) async throws {
        let configuration = ServerConfiguration(dataDirectory: directory.path, loops: 1)
        let engine = try await Engine.open(configuration, fallbacks: [:])
        try await work(engine, configuration)
        await engine.close()
    }

    private func makeAdminRouter(_ engine: Engine, _ configuration: ServerConfiguration) -> Router {
        let endpoint = PublicEndpoint(publicURL: nil, tls: nil, clear: nil, hostName: nil)
        return engine.makeAdminAPI(configuration, endpoint).makeHandler()
    }

    /// A console with a simulator, which need not answer.
    private func makeConsole(_ engine: Engine, _ configuration: ServerConfiguration) throws -> Console {
        let administration = makeAdminRouter(engine, configuration)
        return try engine.makeConsole(configuration, administration: administration, simulator: administration)
    }

    @Test func everyRouteOfTheAdministrationIsDescribedAndNothingElse() async throws {
        try await withEngine { engine, configuration in
            let routes = makeAdminRouter(engine, configuration).routeNames
            #expect(AdminDescription.description.routeNames.sorted() == routes.sorted())
        }
    }

    @Test func everyRouteOfTheConsoleIsDescribedAndNothingElse() async throws {
        try await withEngine { engine, configuration in
            let console = try makeConsole(engine, configuration)
            let simulator = "/console/api/simulator/"
            let described = console.description.routeNames.filter { !$0.contains(simulator) }
            let routes = console.routes.map { "\($0.method.rawValue) /console/api\($0.pattern)" }
            #expect(described.sorted() == routes.filter { !$0.contains(simulator) }.sorted())
        }
    }

    /// `lib/api.js` has every request that the pages make.
    @Test func everyRequestOfThePagesIsDescribed() async throws {
        try await withEngine { engine, configuration in
            let paths = try makeConsole(engine, configuration).description.document["paths"]?.object ?? [:]
            let described = Set(
                paths.flatMap { path, methods in (methods.object ?? [:]).keys.map { Self.form($0, path) } })
            let asset = try #require(ConsoleAssets(directory: nil).asset(at: ["lib", "api.js"]))
            let source = String(decoding: asset.bytes, as: UTF8.self)
            let calls = source.matches(of: /"(GET|POST|PUT|DELETE) (\/[^"]+)"/).map { match in
                Self.form(String(match.1), "/console/api\(match.2)")
            }
            #expect(calls.count > 60)
            for call in calls { #expect(described.contains(call), "\(call) is not described.") }
        }
    }

    /// A method and a path in which parameters have no names.
    private static func form(_ method: String, _ path: String) -> String {
        let segments = path.split(separator: "/").map { $0.hasPrefix("{") ? "{}" : $0 }
        return "\(method.uppercased()) /\(segments.joined(separator: "/"))"
    }

    @Test func operationsHaveNamesOfTheirOwnAndSchemasThatExist() async throws {
        try await withEngine { engine, configuration in
            let console = try makeConsole(engine, configuration).description
            for description in [AdminDescription.description, console] {
                let ids = description.groups.flatMap(\.operations).map(\.id)
                #expect(Set(ids).count == ids.count, "\(description.title)")
                let text = description.document.text
                let named = text.matches(of: /#\/components\/schemas\/(\w+)/).map { String($0.1) }
                #expect(Set(named).isSubset(of: description.schemas.keys), "\(description.title)")
            }
        }
    }
}
