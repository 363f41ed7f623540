import MartletHTTP
import Testing

struct RouterTests {
    private static let router: Router = {
        var router = Router { _, refusal in
            switch refusal {
            case .badTarget: HTTPResponse(.badRequest)
            case .notFound: HTTPResponse(.notFound)
            case .methodNotAllowed(let allow):
                HTTPResponse(
                    .methodNotAllowed, fields: ["allow": allow.map(\.rawValue).joined(separator: ", ")])
            }
        }
        router.on(.get, "/{hub}/registrations/{id}") { _, match in
            HTTPResponse(.ok, body: .bytes(Array("\(match["hub"]) \(match["id"])".utf8)))
        }
        router.on(.put, "/{hub}/registrations/{id}", bodyLimit: 64) { _, _ in HTTPResponse(.created) }
        router.on(.post, "/{hub}/messages", bodyLimit: 1024) { _, _ in HTTPResponse(.created) }
        router.on(.post, "/{hub}/messages/$batch") { _, _ in HTTPResponse(202) }
        router.on(.get, "/{hub}/messages/{id}") { _, _ in HTTPResponse(.ok) }
        router.on(.get, "/$files/{name}/{path...}") { _, match in
            HTTPResponse(.ok, body: .bytes(Array("\(match["name"]): \(match["path"])".utf8)))
        }
        return router
    }()

    @Test(arguments: ["/demo/registrations/1", "/demo/Registrations/1/", "/demo/REGISTRATIONS/1?api-version=x"])
    func literalsCompareWithoutCaseAndATrailingSlashIsTolerated(target: String) async {
        let response = await Self.router.respond(to: HTTPRequest(.get, target))
        #expect(response.status == .ok)
        #expect(response.bytes == Array("demo 1".utf8))
    }

    @Test func aLastNameWithDotsStandsForTheRestOfThePath() async {
        let response = await Self.router.respond(to: HTTPRequest(.get, "/$files/a/b%20c/d/e?f=/g"))
        #expect(response.bytes == Array("a: b c/d/e".utf8))
        #expect(await Self.router.respond(to: HTTPRequest(.get, "/$files/a")).status == .notFound)
    }

    @Test func aMatchSaysWhichSegmentsStandForNames() async {
        var router = Router { _, _ in HTTPResponse(.notFound) }
        router.on(.get, "/$files/{name}/{path...}") { _, match in
            let names = (0..<5).map { match.parameterName(at: $0) ?? "-" }
            return HTTPResponse(.ok, body: .bytes(Array(names.joined(separator: " ").utf8)))
        }
        let response = await router.respond(to: HTTPRequest(.get, "/$files/a/b/c"))
        #expect(response.bytes == Array("- name path path -".utf8))
    }

    @Test func parametersAreDecodedAndKeepTheirCase() async {
        let response = await Self.router.respond(to: HTTPRequest(.get, "/Demo/registrations/a%20B"))
        #expect(response.bytes == Array("Demo a B".utf8))
    }

    @Test func anotherMethodIsAnsweredWithThoseThatAre() async {
        let response = await Self.router.respond(to: HTTPRequest(.delete, "/demo/registrations/1"))
        #expect(response.status == .methodNotAllowed)
        #expect(response.fields["allow"] == "GET, PUT")
    }

    @Test func theFirstPatternThatFitsIsThePathsOnlyOne() async {
        #expect(await Self.router.respond(to: HTTPRequest(.get, "/demo/messages/1")).status == .ok)
        let response = await Self.router.respond(to: HTTPRequest(.get, "/demo/messages/$batch"))
        #expect(response.status == .methodNotAllowed)
        #expect(response.fields["allow"] == "POST")
    }

    @Test func theBodyLimitIsTheRoutesAndWhatNoRouteTakesIsRefusedOnItsHead() {
        #expect(Self.router.route(for: HTTPRequest(.put, "/demo/registrations/1")).bodyLimit == 64)
        #expect(Self.router.route(for: HTTPRequest(.post, "/demo/messages/")).bodyLimit == 1024)
        #expect(Self.router.route(for: HTTPRequest(.get, "/demo/registrations/1")).bodyLimit == 0)
        #expect(Self.router.route(for: HTTPRequest(.put, "/demo/registrations/1")).body == .collected)
        #expect(Self.router.route(for: HTTPRequest(.post, "/nowhere")).body == .ignored)
        #expect(Self.router.route(for: HTTPRequest(.patch, "/demo/messages")).body == .ignored)
    }

    @Test func theRoutesAreListedByMethodAndPattern() {
        let names = [
            "GET /{hub}/registrations/{id}", "PUT /{hub}/registrations/{id}", "POST /{hub}/messages",
            "POST /{hub}/messages/$batch", "GET /{hub}/messages/{id}", "GET /$files/{name}/{path...}",
        ]
        #expect(Self.router.routeNames == names)
    }

    @Test func aBadTargetAndAnUnknownPathAreToldApart() async {
        #expect(await Self.router.respond(to: HTTPRequest(.get, "/%zz")).status == .badRequest)
        #expect(await Self.router.respond(to: HTTPRequest(.get, "/a/b/c/d")).status == .notFound)
    }
}
