import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletConsole

struct ProviderSignInTests {
    @Test func thePageIsToldTheNameOfTheProviderOrThatThereIsNone() async throws {
        let provided = try await ProviderBench()
        #expect(await provided.bench.send(.get, "/console/api/sign-in").json == ["provider": ["name": "Example"]])
        let bench = try await ConsoleBench()
        _ = try await bench.directory.invite("ops", RoleGrants([RoleGrant(.admin)]))
        #expect(await bench.send(.get, "/console/api/sign-in").json == ["provider": .null])
        for path in ["/console/api/sign-in/provider", "/console/api/sign-in/provider/finish"] {
            #expect(await bench.send(.post, path, body: ["state": "x"]).status == .notFound)
        }
    }

    @Test func theBrowserIsSentAwayWithStateNonceAndChallenge() async throws {
        let bench = try await ProviderBench()
        let (first, second) = (try await bench.begin(), try await bench.begin())
        #expect(first.query["response_type"] == "code" && first.query["client_id"] == "martlet")
        #expect(first.query["redirect_uri"] == "http://127.0.0.1:8080/console/enter")
        #expect(first.query["scope"] == "openid profile" && first.query["code_challenge_method"] == "S256")
        #expect(first.query["prompt"] == nil && first.query["max_age"] == nil)
        for name in ["state", "nonce", "code_challenge"] {
            #expect(first.query[name]?.count == 43 && first.query[name] != second.query[name], "\(name)")
        }
        #expect(Set([first.query["state"], first.query["nonce"], first.query["code_challenge"]]).count == 3)
        let fresh = try await bench.begin(fresh: true)
        #expect(fresh.query["prompt"] == "login" && fresh.query["max_age"] == "0")
    }

    @Test func theCookieOfTheWayIsForThisHostAndNoScript() async throws {
        let bench = try await ProviderBench()
        let answer = await bench.bench.send(.post, "/console/api/sign-in/provider", body: [:])
        let cookie = answer.fields["set-cookie"] ?? ""
        #expect(cookie.hasPrefix("__Host-martlet-sign-in="))
        for word in ["; Path=/", "; Secure", "; HttpOnly", "; SameSite=Strict", "; Max-Age=900"] {
            #expect(cookie.contains(word))
        }
    }

    @Test func aPersonWithARoleEntersAndTheCookieOfTheWayIsRemoved() async throws {
        let bench = try await ProviderBench()
        let answer = try await bench.signIn(["groups": ["other", "marketing"]])
        #expect(answer.status == .ok && answer.json?["operator"] == "Alice")
        #expect(answer.json?["roles"] == ["sender@shop"] && answer.json?["provider"] == "Example")
        #expect(answer.json?["hasPassword"] == false && answer.json?["isFresh"] == true)
        let cookies = answer.fields.values(of: "set-cookie")
        #expect(cookies.count == 2 && cookies[0].hasPrefix("__Host-martlet-console="))
        #expect(cookies[1].hasPrefix("__Host-martlet-sign-in=;") && cookies[1].contains("Max-Age=0"))
        let session = ProviderBench.cookie(in: answer, at: 0)
        #expect(await bench.bench.send(.get, "/console/api/session", cookie: session).status == .ok)
        #expect(try await bench.audit() == ["Alice: sign in by provider 200"])
    }

    @Test func theCodeIsExchangedWithTheVerifierAndTheSecret() async throws {
        let bench = try await ProviderBench()
        let begun = try await bench.begin()
        bench.web.person(begun.query["nonce"] ?? "", [:])
        _ = await bench.finish(begun, code: "the code")
        let request = try #require(bench.web.asked.first { $0.target == "/realm/token" })
        #expect(request.fields["authorization"] == "Basic " + Base64.encode(Array("martlet:s%3A%2F".utf8)))
        let items = try #require(HTTPTarget("/?" + String(decoding: request.body, as: UTF8.self))).query
        let form = Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
        #expect(form["grant_type"] == "authorization_code" && form["code"] == "the code")
        #expect(form["redirect_uri"] == begun.query["redirect_uri"] && form["client_secret"] == nil)
        let verifier = try #require(form["code_verifier"])
        #expect(Base64URL.encode(SHA256.hash(Array(verifier.utf8))) == begun.query["code_challenge"])
        #expect(bench.web.addresses.last == .any)
    }

    @Test func aProviderThatTakesTheSecretOnlyInTheBodyGetsItThere() async throws {
        let bench = try await ProviderBench()
        bench.web.configure(["token_endpoint_auth_methods_supported": ["client_secret_post"]])
        #expect(try await bench.signIn().status == .ok)
        let request = try #require(bench.web.asked.first { $0.target == "/realm/token" })
        #expect(request.fields["authorization"] == nil)
        #expect(String(decoding: request.body, as: UTF8.self).hasSuffix("&client_id=martlet&client_secret=s%3A%2F"))
    }

    @Test(arguments: ["https://10.0.0.1/token", "http://127.0.0.1/token", "http://id.example/token"])
    func tokensAreNotAskedForWhereTheProviderMayNotSendUs(url: String) async throws {
        let bench = try await ProviderBench()
        bench.web.configure(["token_endpoint": .string(url)])
        let answer = await bench.bench.send(.post, "/console/api/sign-in/provider", body: [:])
        if url.contains("10.0.0.1") {
            // The transport looks at the address that is connected to.
            #expect(answer.status == .ok)
            let begun = try await bench.begin()
            _ = await bench.finish(begun)
            #expect(bench.web.addresses.last == .publicOnly)
        } else {
            #expect(answer.status == .serviceUnavailable && answer.code == "provider-unavailable")
        }
    }

    // MARK: Who does not enter

    @Test(arguments: [[], ["OPS"], ["op"], .null] as [JSON])
    func withoutARoleThereIsNoEntry(groups: JSON) async throws {
        let bench = try await ProviderBench()
        let answer = try await bench.signIn(["groups": groups])
        #expect(answer.status == .forbidden && answer.code == "no-role")
        #expect(answer.fields.values(of: "set-cookie").map { $0.contains("Max-Age=0") } == [true])
        #expect(try await bench.bench.directory.list().map(\.entry.name) == ["ops"])
        #expect(try await bench.audit() == ["?: sign in by provider 403"])
    }

    @Test func aRoleThatTheProviderTakesAwayEndsTheSessions() async throws {
        let bench = try await ProviderBench()
        let session = ProviderBench.cookie(in: try await bench.signIn(), at: 0)
        #expect(try await bench.signIn(["groups": []]).code == "no-role")
        #expect(await bench.bench.send(.get, "/console/api/session", cookie: session).code == "signed-out")
        #expect(try await bench.audit().last == "Alice: sign in by provider 403")
        #expect(try await bench.signIn(["groups": ["everybody"]]).json?["roles"] == ["viewer"])
    }

    @Test func aDisabledOperatorStaysOut() async throws {
        let bench = try await ProviderBench()
        _ = try await bench.signIn()
        _ = try await bench.bench.directory.change("alice", .isDisabled(true))
        let answer = try await bench.signIn()
        #expect(answer.status == .forbidden && answer.code == "disabled")
        #expect(try await bench.audit().last == "Alice: sign in by provider 403")
    }

    @Test func anotherBrowsersStateIsRefusedAndLeavesTheOwn() async throws {
        let bench = try await ProviderBench()
        let (own, other) = (try await bench.begin(), try await bench.begin())
        bench.web.person(own.query["nonce"] ?? "", [:])
        let refused = await bench.finish(own, state: other.query["state"])
        #expect(refused.status == .unauthorized && refused.code == "bad-sign-in")
        #expect(refused.fields["set-cookie"] == nil)
        let without = await bench.finish(ProviderBench.Begun(cookie: "", query: own.query))
        #expect(without.code == "bad-sign-in")
        #expect(!bench.web.asked.contains { $0.target == "/realm/token" })
        #expect(await bench.finish(own).status == .ok)
    }

    static let badClaims: [(name: String, value: JSON)] = [
        ("nonce", .null), ("nonce", "other"), ("aud", "other"), ("aud", ["martlet", "other"]), ("azp", "other"),
        ("iss", "https://other.example"), ("sub", .null), ("sub", ""), ("sub", 7), ("exp", 1), ("exp", .null),
    ]

    @Test(arguments: badClaims)
    func aTokenThatIsNotForThisSignInIsRefused(name: String, value: JSON) async throws {
        let bench = try await ProviderBench()
        let answer = try await bench.signIn([name: value])
        #expect(answer.status == .unauthorized && answer.code == "bad-sign-in")
        #expect(try await bench.audit() == ["?: sign in by provider 401"])
        let log = bench.bench.log.all
        #expect(
            log.count == 1 && log.first?.hasPrefix("The ID token of a sign-in to the console was refused. ") == true)
        #expect(log.first?.contains("other.example") == false)
    }

    @Test func aSignInSucceedsOnceEvenIfTheProviderExchangesACodeTwice() async throws {
        let bench = try await ProviderBench()
        let begun = try await bench.begin()
        bench.web.person(begun.query["nonce"] ?? "", [:])
        #expect(await bench.finish(begun).status == .ok)
        #expect(await bench.finish(begun).code == "bad-sign-in")
    }

    @Test func anAnswerOfAnotherIssuerIsRefused() async throws {
        let bench = try await ProviderBench()
        let begun = try await bench.begin()
        bench.web.person(begun.query["nonce"] ?? "", [:])
        #expect(await bench.finish(begun, iss: "https://other.example").code == "bad-sign-in")
        #expect(!bench.web.asked.contains { $0.target == "/realm/token" })
        #expect(await bench.finish(begun, iss: .string(TokenMaker.issuer)).status == .ok)
    }

    @Test func aProviderThatSaysThatItNamesItselfMustDoSo() async throws {
        let bench = try await ProviderBench()
        bench.web.configure(["authorization_response_iss_parameter_supported": true])
        let begun = try await bench.begin()
        bench.web.person(begun.query["nonce"] ?? "", [:])
        #expect(await bench.finish(begun).code == "bad-sign-in")
        #expect(await bench.finish(begun, iss: .string(TokenMaker.issuer)).status == .ok)
    }

    @Test func aPersonWhomTheProviderDidNotLetInIsToldSo() async throws {
        let bench = try await ProviderBench()
        let answer = await bench.finish(try await bench.begin(), code: .null)
        #expect(answer.status == .unauthorized && answer.code == "provider-refused")
    }

    static let failures: [(status: HTTPStatus, body: JSON, code: String)] = [
        (.badRequest, ["error": "invalid_grant"], "bad-sign-in"),
        (.unauthorized, ["error": "invalid_client"], "provider-unavailable"),
        (.badRequest, ["error": "invalid_request"], "provider-unavailable"),
        (.internalServerError, [:], "provider-unavailable"), (.ok, [:], "provider-unavailable"),
        (.ok, ["id_token": "x"], "bad-sign-in"),
    ]

    @Test(arguments: failures)
    func whatTheTokenEndpointRefusesIsTold(status: HTTPStatus, body: JSON, code: String) async throws {
        let bench = try await ProviderBench()
        bench.web.fail("/realm/token", HTTPResponse(status, body: .bytes(body.bytes)))
        #expect(try await bench.signIn().code == code)
    }

    @Test func aProviderThatIsAwayIsAskedAgainAfterFiveSeconds() async throws {
        let bench = try await ProviderBench()
        let path = "/realm/.well-known/openid-configuration"
        bench.web.fail(path, HTTPResponse(.serviceUnavailable))
        for _ in 0..<5 {
            let answer = await bench.bench.send(.post, "/console/api/sign-in/provider", body: [:])
            #expect(answer.status == .serviceUnavailable && answer.code == "provider-unavailable")
            #expect(answer.json?["error"]?.string?.contains("Example") == true)
        }
        #expect(bench.web.asked.count == 1)
        bench.bench.time.advance(by: .seconds(5))
        _ = await bench.bench.send(.post, "/console/api/sign-in/provider", body: [:])
        #expect(bench.web.asked.count == 2)
    }

    @Test func failedSignInsAreLimitedAndAProviderThatIsAwayDoesNotCount() async throws {
        let bench = try await ProviderBench(limitedTo: 2)
        bench.web.fail("/realm/token", HTTPResponse(.internalServerError))
        for _ in 0..<3 { #expect(try await bench.signIn().code == "provider-unavailable") }
        let refusal: JSON = ["error": "invalid_grant"]
        bench.web.fail("/realm/token", HTTPResponse(.badRequest, body: .bytes(refusal.bytes)))
        for _ in 0..<2 { #expect(try await bench.signIn().code == "bad-sign-in") }
        let asked = bench.web.asked.count
        let answer = try await bench.signIn()
        #expect(answer.status == .tooManyRequests && answer.fields["retry-after"] == "30")
        #expect(bench.web.asked.count == asked)
    }

    @Test(arguments: ["invalid_request", "invalid_client", "other"])
    func whateverTheProviderRefusesCountsAsAFailedSignIn(error: String) async throws {
        let bench = try await ProviderBench(limitedTo: 2)
        let refusal: JSON = ["error": .string(error)]
        bench.web.fail("/realm/token", HTTPResponse(.badRequest, body: .bytes(refusal.bytes)))
        for _ in 0..<2 { #expect(try await bench.signIn().code == "provider-unavailable") }
        let asked = bench.web.asked.count
        #expect(try await bench.signIn().status == .tooManyRequests)
        #expect(bench.web.asked.count == asked)
    }

    // MARK: Operators

    @Test func aPersonIsTheSameOperatorUnderAnotherName() async throws {
        let bench = try await ProviderBench()
        _ = try await bench.signIn()
        let answer = try await bench.signIn(["preferred_username": "other", "groups": ["everybody"]])
        #expect(answer.json?["operator"] == "Alice" && answer.json?["roles"] == ["viewer"])
    }

    @Test func aPersonDoesNotBecomeTheOperatorWhoHasTheName() async throws {
        let bench = try await ProviderBench()
        let answer = try await bench.signIn(["preferred_username": "OPS"])
        let name = try #require(answer.json?["operator"]?.string)
        #expect(name.hasPrefix("OPS-") && name.count == 16)
        let other = try await bench.signIn(["preferred_username": "ops", "sub": "s2"])
        #expect(other.json?["operator"]?.string?.hasPrefix("ops-") == true && other.json?["operator"] != .string(name))
    }

    static let names: [(claims: [String: JSON], name: String)] = [
        (["preferred_username": "ada@example.com"], "ada@example.com"),
        (["preferred_username": "<img src=x>"], "imgsrcx"), (["preferred_username": "\u{202E}ada\n"], "ada"),
        (["preferred_username": "@ada"], "ada"),
        (["preferred_username": "김철수", "email": "kim@example.com"], "kim@example.com"),
        (["preferred_username": .null, "email": "kim@example.com"], "kim@example.com"),
    ]

    @Test(arguments: names)
    func aNameHasOnlyCharactersOfNames(claims: [String: JSON], name: String) async throws {
        let bench = try await ProviderBench()
        #expect(try await bench.signIn(claims).json?["operator"] == .string(name))
    }

    @Test func withoutAUsableNameThereIsOneOfTheIdentity() async throws {
        let bench = try await ProviderBench()
        let unverified: [String: JSON] = [
            "preferred_username": "김철수", "email": "ops@example.com", "email_verified": false,
        ]
        #expect(try await bench.signIn(unverified).json?["operator"]?.string?.hasPrefix("operator-") == true)
        let long = String(repeating: "a", count: 5000)
        let other = try await bench.signIn(["preferred_username": .string(long), "sub": "s2"])
        #expect(other.json?["operator"]?.string?.count == 64)
    }

    @Test func rolesLinksAndPasswordsOfAPersonAreNotOursToGive() async throws {
        let bench = try await ProviderBench()
        let session = ProviderBench.cookie(in: try await bench.signIn(), at: 0)
        let directory = bench.bench.directory
        await #expect(throws: OperatorError.self) {
            try await directory.invite("ALICE", RoleGrants([RoleGrant(.admin)]))
        }
        await #expect(throws: OperatorError.self) { try await directory.signInLink("alice") }
        await #expect(throws: OperatorError.self) {
            try await directory.change("alice", .roles(RoleGrants([RoleGrant(.viewer)])))
        }
        for (method, path, body) in [
            (.put, "/session/password", ["new": "secret-words"]), (.post, "/session/factor", [:]),
        ] as [(HTTPMethod, String, JSON)] {
            let answer = await bench.bench.send(method, "/console/api" + path, cookie: session, body: body)
            #expect(answer.status == .conflict && answer.json?["error"]?.string?.contains("identity provider") == true)
        }
        let password = await bench.bench.send(
            .post, "/console/api/sign-in", body: ["name": "alice", "password": "secret-words"])
        #expect(password.code == "bad-credentials")
    }

    // MARK: Fresh

    @Test func theProviderConfirmsTheSessionThatIsThere() async throws {
        let bench = try await ProviderBench()
        let session = ProviderBench.cookie(in: try await bench.signIn(), at: 0)
        bench.bench.time.advance(by: .seconds(601))
        #expect(await bench.bench.send(.get, "/console/api/hubs/shop/keys", cookie: session).code == "not-fresh")
        let answer = try await bench.signIn(fresh: true, cookie: session)
        #expect(answer.json?["isFresh"] == true)
        #expect(answer.fields.values(of: "set-cookie").count == 1)
        #expect(await bench.bench.send(.get, "/console/api/hubs/shop/keys", cookie: session).status == .ok)
    }

    @Test(arguments: [.null, .integer(1_000_000_000), .string("now"), .integer(4_000_000_000)] as [JSON])
    func aProviderThatDidNotAskMakesNothingFresh(time: JSON) async throws {
        let bench = try await ProviderBench()
        let answer = try await bench.signIn(["auth_time": time], fresh: true)
        #expect(answer.status == .ok && answer.json?["isFresh"] == false)
        let session = ProviderBench.cookie(in: answer, at: 0)
        #expect(await bench.bench.send(.get, "/console/api/hubs/shop/keys", cookie: session).code == "not-fresh")
    }

    @Test func anotherPersonInTheSameBrowserGetsASessionOfTheirOwn() async throws {
        let bench = try await ProviderBench()
        let first = ProviderBench.cookie(in: try await bench.signIn(), at: 0)
        let answer = try await bench.signIn(["sub": "s2", "preferred_username": "bo"], fresh: true, cookie: first)
        #expect(answer.json?["operator"] == "bo" && answer.fields.values(of: "set-cookie").count == 2)
        #expect(await bench.bench.send(.get, "/console/api/session", cookie: first).code == "signed-out")
    }
}

struct ProviderRolesTests {
    @Test func valuesOfAClaimGiveTheRolesOfEveryRuleThatNamesThem() throws {
        let roles = try ProviderRoles(#"admin = ops,sender=cn=Web\, Mail ,sender@shop=marketing, admin@shop=marketing"#)
        #expect(roles.grants(for: ["ops"]).texts == ["admin"])
        #expect(roles.grants(for: ["cn=Web, Mail"]).texts == ["sender"])
        #expect(roles.grants(for: ["marketing"]).texts == ["admin@shop"])
        #expect(roles.grants(for: ["marketing", "ops", "x"]).texts == ["admin", "admin@shop"])
        #expect(roles.grants(for: ["Ops"]).isEmpty)
    }

    @Test(arguments: [
        "", "admin", "admin=", "boss=ops", "admin@=ops", "admin=ops,", "=ops", #"admin=CORP\ops"#, #"admin=ops\"#,
    ])
    func aRuleThatIsNoneSaysWhatToWrite(text: String) {
        #expect(throws: ProviderRoles.Problem.self) { try ProviderRoles(text) }
    }
}

struct UsedStatesTests {
    @Test func theOldestIsForgottenBeyondTheLimit() {
        let used = UsedStates()
        for number in 0...UsedStates.countLimit { #expect(used.use("\(number)")) }
        #expect(used.use("0"))
        #expect(!used.use("\(UsedStates.countLimit)") && !used.use("2"))
    }
}
