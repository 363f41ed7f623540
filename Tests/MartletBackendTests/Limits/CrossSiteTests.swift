import MartletHTTP
import MartletModel
import Testing

@testable import MartletBackend

struct CrossSiteTests {
    private func allows(
        _ fields: HTTPFields, at authority: String = "push.example", publicOrigin: String? = nil
    ) -> Bool {
        CrossSiteRule(publicOrigin: publicOrigin.flatMap { HTTPOrigin($0) }).allows(
            HTTPRequest(.post, "/api/register", authority: authority, fields: fields))
    }

    @Test func aClientThatIsNoBrowserIsServed() {
        #expect(allows([:]))
        #expect(allows(["content-type": "application/json"]))
    }

    @Test(arguments: ["cross-site", "same-site", "", "x"])
    func aBrowserThatComesFromAnotherSiteIsRefused(site: String) {
        #expect(!allows(["sec-fetch-site": site]))
        #expect(!allows(["sec-fetch-site": site, "origin": "https://push.example"]))
    }

    @Test func twoSitesAreRefusedWhereOneIsForeign() {
        var fields: HTTPFields = ["sec-fetch-site": "same-origin"]
        fields.append(HTTPField("sec-fetch-site", "cross-site"))
        #expect(!allows(fields))
    }

    @Test func pagesOfThisServerAndNoPageAreServed() {
        #expect(allows(["sec-fetch-site": "same-origin", "origin": "https://push.example"]))
        #expect(allows(["sec-fetch-site": "none"]))
        // Behind a proxy that names another host.
        #expect(allows(["sec-fetch-site": "same-origin", "origin": "https://push.example"], at: "10.0.0.7:8080"))
    }

    @Test(arguments: [
        ("https://push.example", true), ("http://push.example", true), ("https://PUSH.example:443", true),
        ("https://push.example:8443", false), ("https://evil.example", false), ("https://push.example.evil", false),
        ("null", false), ("", false), ("capacitor://push.example", false),
    ])
    func anOlderBrowserIsToldByItsOrigin(origin: String, isOwn: Bool) {
        #expect(allows(["origin": origin]) == isOwn)
        #expect(allows(["origin": origin, "sec-fetch-site": "none"]) == isOwn)
    }

    @Test func theConfiguredOriginIsOwnToo() {
        let fields: HTTPFields = ["origin": "https://push.example"]
        #expect(!allows(fields, at: "10.0.0.7:8080"))
        #expect(allows(fields, at: "10.0.0.7:8080", publicOrigin: "https://push.example"))
    }

    @Test(
        "With a configured origin, the host of a request makes no other origin this server's",
        arguments: [
            ("evil.example", "https://evil.example", false), ("evil.example", "http://evil.example", false),
            ("10.0.0.7:8080", "http://10.0.0.7:8080", false), ("push.example", "http://push.example", false),
            ("localhost.evil.example", "https://localhost.evil.example", false),
            ("evil.example", "https://push.example", true), ("push.example", "https://push.example", true),
            ("127.0.0.1:8080", "http://127.0.0.1:8080", true), ("localhost:8443", "https://localhost:8443", true),
            ("[::1]:8080", "http://[::1]:8080", true), ("127.0.0.1:8080", "http://127.0.0.1:9999", false),
            ("evil.example", "http://127.0.0.1:8080", false),
        ])
    func aChosenHostMakesNoOriginOurs(authority: String, origin: String, isOwn: Bool) {
        #expect(allows(["origin": origin], at: authority, publicOrigin: "https://push.example") == isOwn)
    }

    @Test(arguments: [
        ("POST", "/api/notifications?pns=pigeon&to_tag=bob"), ("GET", "/api/notifications/1"),
        ("PUT", "/api/register/1"), ("POST", "/api/notifications/rich"), ("DELETE", "/api/sessions"),
    ])
    func nothingIsAnsweredForAnotherSite(method: String, target: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(
            HTTPMethod(rawValue: method), target, as: "alice", #""hello""#,
            fields: ["sec-fetch-site": "cross-site", "content-type": "text/plain"])
        #expect(response.status == .forbidden)
        #expect(try response.json["code"]?.integer == 40302)
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test(arguments: ["text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "x", ""])
    func aBodyThatSaysItIsNoJSONIsRefused(type: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(
            .post, "/api/notifications?pns=pigeon&to_tag=bob", as: "alice", #""hello""#,
            fields: ["content-type": type])
        #expect(response.status == 415)
        #expect(response.message.contains("application/json"))
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test(arguments: ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"])
    func aBodyThatSaysItIsJSONIsRead(type: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(
            .post, "/api/notifications?pns=pigeon&to_tag=bob", as: "alice", #""hello""#,
            fields: ["content-type": type])
        #expect(response.status == .ok)
    }
}
