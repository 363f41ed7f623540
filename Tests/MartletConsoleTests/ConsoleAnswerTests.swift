import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletConsole

/// What the console passes on, and what it leaves out.
struct ConsoleAnswerTests {
    @Test func theAdministrationIsAskedWithoutTheConsolesPrefixAndCookies() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        _ = await bench.send(.get, "/console/api/hubs/a%2Db/sends?limit=5", cookie: cookie)
        #expect(bench.administration.targets.last == "GET /hubs/a%2Db/sends?limit=5")
        let names = bench.administration.last?.fields.map(\.name) ?? []
        #expect(!names.contains("cookie") && !names.contains("sec-fetch-site"))
    }

    @Test func theHubsAPIIsAskedForSentencesInsteadOfXML() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        _ = await bench.send(.get, "/console/api/rest/shop/sending", cookie: cookie)
        #expect(bench.administration.last?.fields["martlet-answer"] == "json")
    }

    @Test func theAdministrationLearnsWhoAsksFromTheSessionAlone() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("Ops", "admin")
        _ = await bench.send(.post, "/console/api/hubs/shop/messages/a/cancel", cookie: cookie) {
            $0.operatorName = "somebody"
        }
        #expect(bench.administration.last?.operatorName == "Ops")
    }

    @Test func aViewerLearnsThatAUserHasSentItAndNotWhich() async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let send: JSON = ["author": "resend:1", "resentBy": "user:alice", "isToOneUser": false]
        bench.administration.answer("/hubs/shop/sends", ["sends": [send]])
        for path in ["sends/1", "messages/1/status", "messages/1/devices/d"] {
            bench.administration.answer("/hubs/shop/\(path)", ["author": "user:alice", "isToOneUser": false])
        }
        for (role, name) in [("viewer", "user"), ("sender", "user:alice")] {
            let cookie = try await bench.signIn(role, "\(role)@shop")
            let list = await bench.send(.get, "/console/api/hubs/shop/sends", cookie: cookie)
            #expect(list.json?["sends"]?.array?.first?["resentBy"]?.string == name)
            #expect(list.json?["sends"]?.array?.first?["author"] == "resend:1")
            for path in ["sends/1", "messages/1/status", "messages/1/devices/d"] {
                let answer = await bench.send(.get, "/console/api/hubs/shop/\(path)", cookie: cookie)
                #expect(answer.json?["author"]?.string == name, "\(path) for a \(role)")
            }
        }
    }

    @Test func everyChangeIsInTheAuditLogBeforeItIsMade() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        _ = await bench.send(.post, "/console/api/hubs/shop/messages/abc/cancel", cookie: cookie)
        let entries = try await bench.storage.actions(OperatorActionQuery(limit: 1)).map(\.1)
        let entry = try #require(entries.first)
        #expect(entry.operatorName == "ops" && entry.role == "admin" && entry.address == "127.0.0.1")
        #expect(entry.action == "POST /hubs/{hub}/messages/{id}/cancel" && entry.hub == "shop")
        #expect(entry.subject == "abc" && entry.answer == 200)
    }

    @Test func theAuditLogHasWhoWasInvited() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        let body: JSON = ["name": "kim", "roles": ["viewer"]]
        _ = await bench.send(.post, "/console/api/operators", cookie: cookie, body: body)
        let entry = try await bench.storage.actions(OperatorActionQuery(limit: 1)).first?.1
        #expect(entry?.action == "POST /operators" && entry?.subject == "kim")
    }

    @Test func aSendIsAuditedWithItsIdAndADryRunIsNot() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        let tags: (inout HTTPRequest) -> Void = { $0.fields["servicebusnotification-tags"] = "news" }
        bench.administration.answer(
            "/rest/shop/messages", location: "https://hub.example/shop/messages/abc?api-version=1")
        let before = try await bench.storage.actions(OperatorActionQuery(limit: 100)).count
        _ = await bench.send(.post, "/console/api/rest/shop/messages?dryRun", cookie: cookie, changing: tags)
        #expect(try await bench.storage.actions(OperatorActionQuery(limit: 100)).count == before)
        _ = await bench.send(.post, "/console/api/rest/shop/messages?test", cookie: cookie, changing: tags)
        _ = await bench.send(.post, "/console/api/rest/shop/messages", cookie: cookie, changing: tags)
        let entries = try await bench.storage.actions(OperatorActionQuery(limit: 2)).map(\.1)
        #expect(entries.map(\.action) == ["POST /rest/{hub}/messages", "POST /rest/{hub}/messages?test"])
        #expect(entries.first?.subject == "abc")
    }

    @Test func nothingIsHiddenFromTheAuditLogByADryRunOrATestThatDoesNotExist() async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let cookie = try await bench.signIn("kim", "sender")
        bench.administration.answer(
            "/rest/shop/schedulednotifications", location: "https://hub.example/shop/schedulednotifications/abc")
        let schedules = "/console/api/rest/shop/schedulednotifications"
        _ = await bench.send(.delete, schedules + "/17?dryRun", cookie: cookie)
        _ = await bench.send(.put, "/console/api/rest/shop/sending?dryRun", cookie: cookie)
        _ = await bench.send(.post, schedules + "?test", cookie: cookie) {
            $0.fields["servicebusnotification-tags"] = "news"
        }
        _ = await bench.send(.post, schedules + "?dryRun", cookie: cookie)
        _ = await bench.send(.put, schedules + "/17?dryRun", cookie: cookie)
        let entries = try await bench.storage.actions(OperatorActionQuery(limit: 3)).map(\.1)
        #expect(
            entries.map { "\($0.action) \($0.subject ?? "-")" } == [
                "POST /rest/{hub}/schedulednotifications abc", "PUT /rest/{hub}/sending -",
                "DELETE /rest/{hub}/schedulednotifications/{id} 17",
            ])
    }

    @Test func theAuditLogTellsWhoseRoleWasChanged() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        _ = await bench.send(.put, "/console/api/users/alice/roles/admin", cookie: cookie)
        _ = await bench.send(.post, "/console/api/hubs/shop/keys/Full/primary", cookie: cookie)
        _ = await bench.send(.put, "/console/api/hubs/shop/limits", cookie: cookie)
        let entries = try await bench.storage.actions(OperatorActionQuery(limit: 3)).map(\.1)
        #expect(entries.map(\.subject) == [nil, "Full primary", "alice admin"])
        #expect(entries.map(\.hub) == ["shop", "shop", nil])
    }

    @Test func aLongSubjectIsCutVisibly() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        for id in [String(repeating: "a", count: 128), String(repeating: "a", count: 129)] {
            _ = await bench.send(.delete, "/console/api/rest/shop/installations/\(id)", cookie: cookie)
        }
        let umlauts = String(repeating: "%C3%A4", count: 100)
        _ = await bench.send(.delete, "/console/api/rest/shop/installations/\(umlauts)", cookie: cookie)
        let subjects = try await bench.storage.actions(OperatorActionQuery(limit: 3)).map(\.1.subject)
        #expect(
            subjects == [
                String(repeating: "ä", count: 16) + "…", String(repeating: "a", count: 16) + "…",
                String(repeating: "a", count: 128),
            ])
    }

    @Test func readingASecretIsAuditedAndReadingAListIsNot() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        let before = try await bench.storage.actions(OperatorActionQuery(limit: 100)).count
        _ = await bench.send(.get, "/console/api/hubs/shop/sends", cookie: cookie)
        #expect(try await bench.storage.actions(OperatorActionQuery(limit: 100)).count == before)
        _ = await bench.send(.get, "/console/api/hubs/shop/keys", cookie: cookie)
        _ = await bench.send(.get, "/console/api/hubs/shop/sends/1?content=show", cookie: cookie)
        #expect(try await bench.storage.actions(OperatorActionQuery(limit: 100)).count == before + 2)
    }

    @Test func hubsAreListedToThoseWhoMaySeeThemAndWithoutConnectionStrings() async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let cookie = try await bench.signIn("kim", "viewer@SHOP")
        bench.administration.answer("/hubs", [["name": "other"], ["name": "shop"]])
        #expect(await bench.send(.get, "/console/api/hubs", cookie: cookie).json == [["name": "shop"]])
        bench.administration.answer("/hubs/shop", ["name": "shop", "connectionStrings": ["a": "secret"]])
        #expect(await bench.send(.get, "/console/api/hubs/shop", cookie: cookie).json == ["name": "shop"])
    }

    @Test(arguments: ["isDirect", "isToOneUser", "isConfidential"])
    func personalContentIsShownToAnAdministratorWhoAsks(fact: String) async throws {
        let bench = try await ConsoleBench()
        let admin = try await bench.signIn("ops", "admin")
        let sender = try await bench.signIn("kim", "sender")
        bench.administration.answer("/hubs/shop/sends/1", [fact: true, "text": "Hello", "content": ["body": "Hello"]])
        let path = "/console/api/hubs/shop/sends/1"
        for (cookie, query, isShown) in [
            (sender, "", false), (sender, "?content=show", false), (admin, "", false), (admin, "?content=show", true),
        ] {
            let answer = await bench.send(.get, path + query, cookie: cookie).json
            #expect((answer?["content"]?["body"] == "Hello") == isShown)
            #expect((answer?["text"] == "Hello") == isShown)
        }
    }

    @Test(arguments: ["/hubs/shop/sends", "/hubs/shop/devices/d/sends"])
    func aListSaysWhatCampaignsSayAndOfPersonalSendsOnlyToWhom(path: String) async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let viewer = try await bench.signIn("kim", "viewer")
        let sender = try await bench.signIn("lee", "sender")
        let campaign: JSON = ["text": "Sale", "expression": "news", "isToOneUser": false]
        let personal: JSON = ["text": "Your code", "expression": "username:alice", "isToOneUser": true]
        bench.administration.answer(path, ["sends": [campaign, personal], "next": "1"])
        for (cookie, expression) in [(viewer, JSON.null), (sender, "username:alice")] {
            let sends = await bench.send(.get, "/console/api\(path)", cookie: cookie).json?["sends"]
            #expect(
                sends == [campaign, ["text": .null, "expression": expression, "isToOneUser": true]])
        }
    }

    @Test func aTraceNamesNobodyToAViewer() async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let viewer = try await bench.signIn("kim", "viewer")
        let sender = try await bench.signIn("lee", "sender")
        func trace(_ push: JSON, _ sentences: JSON = ["Accepted."]) -> JSON {
            ["registrations": [push], "explanation": sentences]
        }
        let personal = trace(
            [
                "expression": "news && (username:alice || username:bob)",
                "decidedBy": [["tag": "news", "isPresent": true], ["tag": "username:bob", "isPresent": false]],
            ], ["Accepted.", "It did not have the tag 'UserName:bob'."])
        let shown = trace(["isToOneUser": true, "decidedBy": [["tag": "news", "isPresent": true]]])
        let campaign = trace(["expression": "news", "decidedBy": [["tag": "news", "isPresent": true]]])
        bench.administration.answer("/hubs/shop/sends/1", ["isToOneUser": false])
        for (cookie, told, expected) in [
            (viewer, personal, shown), (sender, personal, personal), (viewer, campaign, campaign),
        ] {
            bench.administration.answer("/hubs/shop/messages/1/devices/d", told)
            let answer = await bench.send(.get, "/console/api/hubs/shop/messages/1/devices/d", cookie: cookie).json
            #expect(answer == expected)
        }
    }

    @Test func aTraceOfAPersonalSendHasNoPayload() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("kim", "admin")
        let trace: JSON = ["registrations": [["payload": ["body": "Hello", "size": 5, "sha256": "x"]]]]
        bench.administration.answer("/hubs/shop/messages/1/devices/d", trace)
        bench.administration.answer("/hubs/shop/sends/1", ["isToOneUser": true])
        let path = "/console/api/hubs/shop/messages/1/devices/d"
        let hidden = await bench.send(.get, path, cookie: cookie).json
        #expect(hidden?["registrations"] == [["payload": ["isWithheld": true, "why": "single-user"]]])
        #expect(await bench.send(.get, path + "?content=show", cookie: cookie).json == trace)
        bench.administration.answer("/hubs/shop/sends/1", ["isConfidential": true])
        let confidential = await bench.send(.get, path + "?content=show", cookie: cookie).json
        #expect(confidential?["registrations"] == [["payload": ["isWithheld": true, "why": "confidential"]]])
        bench.administration.answer("/hubs/shop/sends/1", ["isToOneUser": false])
        #expect(await bench.send(.get, path, cookie: cookie).json == trace)
    }

    @Test(arguments: [
        ("0123456789abcdef0123456789abcdef", "0123…cdef"), ("short", "sh…"),
        ("https://updates.push.example/wpush/v2/gAAAAABsecret", "https://updates.push.example/…secret"),
    ])
    func aHandleIsShownByItsEnds(handle: String, masked: String) {
        #expect(Withholding.masked(handle) == masked)
        #expect(
            Withholding.maskingHandles(in: [["a": ["handle": .string(handle)]]]) == [["a": ["handle": .string(masked)]]]
        )
    }

    @Test func aViewerFindsAUserByTheWholeNameAlone() async throws {
        let bench = try await ConsoleBench()
        let viewer = try await bench.signIn("kim", "viewer")
        let sender = try await bench.signIn("lee", "sender")
        for (cookie, isExact) in [(viewer, true), (sender, false)] {
            _ = await bench.send(
                .post, "/console/api/hubs/shop/devices/search", cookie: cookie,
                body: ["text": "ali", "isExact": false])
            let asked = try JSON(parsing: bench.administration.last?.body ?? [])
            #expect(asked["isExact"]?.bool == isExact)
        }
    }

    @Test(arguments: ["", "?prefix=username:&limit=1", "?personal=yes"])
    func aViewerGetsTheListOfTagsWithoutThoseThatNamePersons(query: String) async throws {
        let bench = try await ConsoleBench()
        let sender = try await bench.signIn("lee", "sender")
        let viewer = try await bench.signIn("kim", "viewer@a-b")
        let narrowed = query.isEmpty ? "?personal=no" : "?personal=no&\(query.dropFirst())"
        for (cookie, wanted) in [(sender, query), (viewer, narrowed)] {
            _ = await bench.send(.get, "/console/api/hubs/a%2Db/tags\(query)", cookie: cookie)
            #expect(bench.administration.targets.last == "GET /hubs/a%2Db/tags\(wanted)")
        }
    }

    @Test(arguments: [
        ("username:alice", true), ("a && !UserName:bob", true), ("from:alice", true), ("(news||from:alice)", true),
        ("news && !from:alice", true), ("$InstallationId:{7}", true), ("valid-from:2026", false), ("news", false),
        ("The registration had the tag 'from:alice'.", true), ("The tag 'valid-from:2026' is not there.", false),
    ])
    func anExpressionThatNamesAPersonIsPersonal(expression: String, isPersonal: Bool) {
        #expect(PersonalAudience.isNamed(in: expression) == isPersonal)
    }

    @Test func aViewerCannotSelectSendsByTheUserWhoAskedForThem() async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let viewer = try await bench.signIn("kim", "viewer@shop")
        let sender = try await bench.signIn("lee", "sender@shop")
        let path = "/console/api/hubs/shop/sends?author="
        for author in ["user:bob", "user%3Abob", "user:BOB&author=key:a"] {
            let refused = await bench.send(.get, path + author, cookie: viewer)
            #expect(refused.status == .forbidden && refused.code == "forbidden", "\(author)")
            #expect(refused.json?["error"]?.string == "This needs the role sender for the hub 'shop'.")
            #expect(await bench.send(.get, path + author, cookie: sender).status == .ok)
        }
        for author in ["key:Orders", "operator:lee", "administrator", "resend"] {
            #expect(await bench.send(.get, path + author, cookie: viewer).status == .ok)
        }
    }

    @Test(arguments: ["isToOneUser", "isDirect"])
    func theDeadLettersOfAPersonalSendNameNoDeviceToAViewer(fact: String) async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let viewer = try await bench.signIn("kim", "viewer")
        let sender = try await bench.signIn("lee", "sender")
        let whole: JSON = [
            "deadLetters": [["outcome": "gone", "registration": "r7", "installation": "i7"]], "continuation": "1.2.3",
        ]
        let path = "/hubs/shop/messages/1/deadletters"
        bench.administration.answer(path, whole)
        func ask(_ cookie: String, _ query: String = "") async -> HTTPResponse {
            await bench.send(.get, "/console/api\(path)\(query)", cookie: cookie)
        }
        bench.administration.answer("/hubs/shop/sends/1", ["isToOneUser": false, "isDirect": false])
        #expect(await ask(viewer).json == whole)
        #expect(await ask(viewer, "?continuation=1.2.3").json == whole)
        let document: JSON = ["isToOneUser": .bool(fact == "isToOneUser"), "isDirect": .bool(fact == "isDirect")]
        bench.administration.answer("/hubs/shop/sends/1", document)
        #expect(await ask(viewer).json == ["deadLetters": [["outcome": "gone"]]])
        // A position that was made up would tell where the device is among all others.
        #expect(await ask(viewer, "?continuation=1.2.3").status == .forbidden)
        #expect(await ask(sender).json == whole)
        #expect(await ask(sender, "?continuation=1.2.3").json == whole)
    }

    @Test func aSendToEverybodyMustBeMeant() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("kim", "sender")
        let path = "/console/api/rest/shop/messages?api-version=2020-06"
        #expect(await bench.send(.post, path, cookie: cookie, body: [:]).status == .badRequest)
        let meant = await bench.send(.post, path, cookie: cookie, body: [:]) { $0.fields["martlet-everybody"] = "true" }
        #expect(meant.status == .ok && bench.administration.last?.fields["martlet-everybody"] == nil)
        let narrow = await bench.send(.post, path, cookie: cookie, body: [:]) {
            $0.fields["servicebusnotification-tags"] = "news"
        }
        #expect(narrow.status == .ok)
        #expect(await bench.send(.post, path + "&dryRun", cookie: cookie, body: [:]).status == .ok)
    }

    @Test func pagesHaveATagAndEveryAnswerAStrictPolicy() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        let page = await bench.send(.get, "/console/hubs/shop/sends/33fb")
        #expect(page.status == .ok && page.fields["content-type"] == "text/html; charset=utf-8")
        let tag = try #require(page.fields["etag"])
        #expect(await bench.send(.get, "/console/") { $0.fields["if-none-match"] = "\"x\", W/\(tag)" }.status == 304)
        #expect(await bench.send(.get, "/console/missing.js").status == .notFound)
        #expect(await bench.send(.get, "/console").fields["location"] == "/console/")
        #expect(await bench.send(.post, "/console/").status == .methodNotAllowed)
        for path in ["/console/", "/console/missing.js", "/console/api/nothing", "/console/api/session"] {
            let fields = await bench.send(.get, path, cookie: cookie).fields
            #expect(fields["content-security-policy"]?.contains("default-src 'none'") == true, "\(path)")
            #expect(fields["x-content-type-options"] == "nosniff" && fields["referrer-policy"] == "no-referrer")
        }
    }

    @Test(arguments: [
        "/console/../secret.key", "/console/%2e%2e/secret.key", "/console/a%2Fb.js", "/console//index.html",
    ])
    func noPathLeadsOutOfThePages(path: String) async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let answer = await bench.send(.get, path)
        #expect(answer.status == .notFound)
    }

    @Test func scriptsAreServedWithoutCommentsThatHaveLinesOfTheirOwnAndWithTheirLines() {
        let script = """
            /** A module.
             * @param {string} a */
            import { b } from "./b.js"; // beside code
            // A line.
            /** @type {any} */ (b).c = `https://x`;
              /* One line. */
            export default b;
            """
        let served = String(decoding: ServedScript.withoutComments(Array(script.utf8)), as: UTF8.self)
        #expect(
            served == """


                import { b } from "./b.js"; // beside code

                /** @type {any} */ (b).c = `https://x`;

                export default b;
                """)
        let asset = ConsoleAsset(path: "base.css", bytes: Array("/* stays */".utf8))
        #expect(asset?.bytes == Array("/* stays */".utf8))
    }
}
