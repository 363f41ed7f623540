import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletConsole

struct SignInTests {
    @Test func withoutAnOperatorThereIsNoConsole() async throws {
        let bench = try await ConsoleBench()
        for path in ["/console", "/console/", "/console/api/session", "/console/index.html"] {
            #expect(await bench.send(.get, path).status == .notFound, "\(path)")
        }
        _ = try await bench.directory.invite("ops", RoleGrants([RoleGrant(.admin)]))
        #expect(await bench.send(.get, "/console/").status == .ok)
    }

    @Test func aLinkTellsWhomItIsForWithoutBeingUsedUp() async throws {
        let bench = try await ConsoleBench()
        let link = try await bench.directory.invite("ops", RoleGrants([RoleGrant(.sender, hub: "shop")]))
        for _ in 0..<2 {
            let answer = await bench.send(.post, "/console/api/link", body: ["token": .string(link.token)])
            #expect(answer.json?["kind"] == "invitation" && answer.json?["name"] == "ops")
            #expect(answer.json?["roles"] == ["sender@shop"])
        }
        let body: JSON = ["token": .string(link.token), "password": "secret-words"]
        #expect(await bench.send(.post, "/console/api/link/use", body: body).status == .ok)
        #expect(await bench.send(.post, "/console/api/link/use", body: body).code == "bad-link")
    }

    @Test func aLinkEndsAfterFifteenMinutes() async throws {
        let bench = try await ConsoleBench()
        let link = try await bench.directory.invite("ops", RoleGrants([RoleGrant(.admin)]))
        bench.time.advance(by: .seconds(900))
        let answer = await bench.send(.post, "/console/api/link", body: ["token": .string(link.token)])
        #expect(answer.code == "bad-link")
    }

    @Test func aShortPasswordLeavesTheInvitation() async throws {
        let bench = try await ConsoleBench()
        let link = try await bench.directory.invite("ops", RoleGrants([RoleGrant(.admin)]))
        let body: JSON = ["token": .string(link.token), "password": "short"]
        #expect(await bench.send(.post, "/console/api/link/use", body: body).status == .badRequest)
        #expect(await bench.send(.post, "/console/api/link", body: ["token": .string(link.token)]).status == .ok)
    }

    @Test func theCookieIsForThisHostAndNoScript() async throws {
        let bench = try await ConsoleBench()
        let link = try await bench.directory.invite("ops", RoleGrants([RoleGrant(.admin)]))
        let body: JSON = ["token": .string(link.token), "password": "secret-words"]
        let cookie = await bench.send(.post, "/console/api/link/use", body: body).fields["set-cookie"] ?? ""
        #expect(cookie.hasPrefix("__Host-martlet-console="))
        for word in ["; Path=/", "; Secure", "; HttpOnly", "; SameSite=Strict"] { #expect(cookie.contains(word)) }
    }

    @Test func aPasswordOpensANewSessionAndEndsTheOneThatTheBrowserHad() async throws {
        let bench = try await ConsoleBench()
        let first = try await bench.signIn("ops", "admin")
        let answer = await bench.send(
            .post, "/console/api/sign-in", cookie: first, body: ["name": "OPS", "password": "secret-words"])
        #expect(answer.status == .ok && answer.json?["isServerAdmin"] == true)
        let second = String((answer.fields["set-cookie"] ?? "").prefix { $0 != ";" })
        #expect(second != first)
        #expect(await bench.send(.get, "/console/api/session", cookie: first).code == "signed-out")
        #expect(await bench.send(.get, "/console/api/session", cookie: second).status == .ok)
    }

    @Test(arguments: [("ops", "wrong-words"), ("nobody", "secret-words"), ("a b", "secret-words")])
    func whatIsWrongIsNotTold(name: String, password: String) async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let answer = await bench.send(
            .post, "/console/api/sign-in", body: ["name": .string(name), "password": .string(password)])
        #expect(answer.code == "bad-credentials" && answer.fields["set-cookie"] == nil)
    }

    @Test func aSessionEndsTwelveHoursAfterItsLastUseAndAWeekAfterItsBeginning() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        for _ in 0..<15 {
            bench.time.advance(by: .seconds(11 * 3600))
            #expect(await bench.send(.get, "/console/api/session", cookie: cookie).status == .ok)
        }
        bench.time.advance(by: .seconds(4 * 3600))
        #expect(await bench.send(.get, "/console/api/session", cookie: cookie).code == "signed-out")
        let other = try await bench.signIn("second", "admin")
        bench.time.advance(by: .seconds(12 * 3600))
        #expect(await bench.send(.get, "/console/api/session", cookie: other).code == "signed-out")
    }

    @Test func aPasswordMakesASessionFreshForTenMinutes() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        bench.time.advance(by: .seconds(600))
        #expect(await bench.send(.get, "/console/api/hubs/shop/keys", cookie: cookie).code == "not-fresh")
        let wrong = await bench.send(
            .post, "/console/api/session/confirm", cookie: cookie, body: ["password": "wrong-words"])
        #expect(wrong.code == "bad-credentials")
        let right = await bench.send(
            .post, "/console/api/session/confirm", cookie: cookie, body: ["password": "secret-words"])
        #expect(right.json?["isFresh"] == true)
        #expect(await bench.send(.get, "/console/api/hubs/shop/keys", cookie: cookie).status == .ok)
    }

    @Test func signingOutEndsTheSession() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        let answer = await bench.send(.post, "/console/api/sign-out", cookie: cookie)
        #expect(answer.status == .noContent && answer.fields["set-cookie"]?.contains("Max-Age=0") == true)
        #expect(await bench.send(.get, "/console/api/session", cookie: cookie).code == "signed-out")
    }

    @Test func aRoleThatIsTakenAwayCountsAtTheNextRequest() async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let cookie = try await bench.signIn("kim", "sender@shop")
        let path = "/console/api/hubs/shop/messages/x/pause"
        #expect(await bench.send(.post, path, cookie: cookie).status == .ok)
        _ = try await bench.directory.change("kim", .roles(RoleGrants([RoleGrant(.viewer, hub: "shop")])))
        let answer = await bench.send(.post, path, cookie: cookie)
        #expect(answer.code == "signed-out")
        let link = try await bench.directory.signInLink("kim")
        let used = await bench.send(.post, "/console/api/link/use", body: ["token": .string(link.token)])
        let next = String((used.fields["set-cookie"] ?? "").prefix { $0 != ";" })
        let refused = await bench.send(.post, path, cookie: next)
        #expect(refused.code == "forbidden" && refused.json?["needs"] == "sender" && refused.json?["hub"] == "shop")
        _ = try await bench.directory.change("kim", .isDisabled(true))
        #expect(await bench.send(.get, "/console/api/session", cookie: next).code == "signed-out")
    }

    @Test func aNewPasswordEndsTheOtherSessions() async throws {
        let bench = try await ConsoleBench()
        let first = try await bench.signIn("ops", "admin")
        let answer = await bench.send(
            .post, "/console/api/sign-in", body: ["name": "ops", "password": "secret-words"])
        let second = String((answer.fields["set-cookie"] ?? "").prefix { $0 != ";" })
        let change = await bench.send(
            .put, "/console/api/session/password", cookie: second,
            body: ["password": "secret-words", "new": "other-words"])
        #expect(change.status == .noContent)
        #expect(await bench.send(.get, "/console/api/session", cookie: first).code == "signed-out")
        #expect(await bench.send(.get, "/console/api/session", cookie: second).status == .ok)
    }

    @Test func sessionsAreListedAndEndedOneByOne() async throws {
        let bench = try await ConsoleBench()
        let first = try await bench.signIn("ops", "admin")
        bench.time.advance(by: .seconds(1))
        let answer = await bench.send(
            .post, "/console/api/sign-in", body: ["name": "ops", "password": "secret-words"])
        let second = String((answer.fields["set-cookie"] ?? "").prefix { $0 != ";" })
        let list = await bench.send(.get, "/console/api/sessions", cookie: second)
        #expect(list.json?.array?.map { $0["isCurrent"] } == [true, false])
        let id = try #require(list.json?.array?.last?["id"]?.string)
        #expect(await bench.send(.delete, "/console/api/sessions/\(id)", cookie: second).status == .noContent)
        #expect(await bench.send(.get, "/console/api/session", cookie: first).code == "signed-out")
    }

    @Test func settingsAreKeptAndBounded() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        let path = "/console/api/session/settings"
        #expect(await bench.send(.put, path, cookie: cookie, body: ["language": "ko"]).status == .ok)
        let long: JSON = ["x": .string(String(repeating: "x", count: 2100))]
        #expect(await bench.send(.put, path, cookie: cookie, body: long).code == "too-large")
        let session = await bench.send(.get, "/console/api/session", cookie: cookie)
        #expect(session.json?["settings"] == ["language": "ko"])
    }

    @Test func twoCookiesOfOneNameAreNone() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        let both = cookie + "; " + cookie
        #expect(await bench.send(.get, "/console/api/session", cookie: both).code == "signed-out")
    }

    @Test func behindAProxyThePublicNameIsOurs() async throws {
        let bench = try await ConsoleBench(publicURL: "https://push.example.com")
        _ = try await bench.signIn("ops", "admin")
        let answer = await bench.send(
            .post, "/console/api/sign-in", body: ["name": "ops", "password": "secret-words"]
        ) { request in
            request.authority = "push.example.com"
            request.fields["origin"] = "https://push.example.com"
            request.connection?.peer = "10.0.0.7"
        }
        #expect(answer.status == .ok)
        let clear = await bench.send(
            .post, "/console/api/sign-in", body: ["name": "ops", "password": "secret-words"]
        ) { request in
            request.authority = "push.example.com"
            request.fields["origin"] = "https://push.example.com"
            request.forwarded = HTTPRequest.Forwarded(client: "192.0.2.1", isClearText: true)
        }
        #expect(clear.code == "clear-text")
    }

    @Test(arguments: [("203.0.113.1", "clear-text"), ("localhost", nil), ("127.0.0.1:8080", nil)])
    func aProxyThatNobodyDeclaredMaySayThatItsClientCameInClearText(host: String, code: String?) async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let answer = await bench.send(
            .post, "/console/api/sign-in", body: ["name": "ops", "password": "secret-words"]
        ) { request in
            request.authority = host
            request.fields["origin"] = "http://\(host)"
            request.fields["x-forwarded-proto"] = "http"
        }
        #expect(answer.code == code)
    }

    @Test(arguments: [
        ("push.example.com", "http://push.example.com", false), ("203.0.113.1", "http://203.0.113.1", false),
        ("127.0.0.1:8080", "http://127.0.0.1:8080", true), ("[::1]:8080", "http://[::1]:8080", true),
        ("localhost:8080", "http://localhost:8080", true),
    ])
    func besideAPublicNameOfHTTPSAPageInClearTextIsOursOnThisMachineOnly(
        authority: String, origin: String, isOurs: Bool
    ) async throws {
        let bench = try await ConsoleBench(publicURL: "https://push.example.com")
        _ = try await bench.signIn("ops", "admin")
        let answer = await bench.send(
            .post, "/console/api/sign-in", body: ["name": "ops", "password": "secret-words"]
        ) { request in
            request.authority = authority
            request.fields["origin"] = origin
        }
        #expect((answer.status == .ok) == isOurs)
        #expect((answer.code == "cross-site") == !isOurs)
    }
}
