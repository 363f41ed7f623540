import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletConsole

/// Changes through the admin socket are in the operators' audit log.
struct CommandLineAuditTests {
    private let storage = MemoryStorage()
    private let time = ManualTimeSource()

    private func handler(user: UInt32? = nil) -> CommandLineAudit {
        var router = Router { _, _ in HTTPResponse(.notFound) }
        for (method, pattern) in [
            (HTTPMethod.put, "/hubs/{name}"), (.put, "/hubs/{name}/limits"), (.get, "/hubs/{name}"),
            (.post, "/operators"), (.post, "/hubs/{name}/devices/search"), (.post, "/hubs/{name}/migration/page"),
            (.delete, "/users/{name}"), (.post, "/{hub}/messages"), (.put, "/{hub}/installations/{id}"),
            (.delete, "/{hub}/installations/{id}"), (.delete, "/{hub}/registrations/{id}"),
            (.post, "/{hub}/messages/$batch"), (.post, "/{hub}/schedulednotifications"),
            (.put, "/{hub}/schedulednotifications/{id}"), (.delete, "/{hub}/schedulednotifications/{id}"),
            (.put, "/{hub}/sending"), (.put, "/users/{name}/roles/{role}"), (.put, "/{hub}"), (.delete, "/{hub}"),
            (.post, "/{hub}/jobs"),
        ] {
            router.on(method, pattern, bodyLimit: 100) { request, _ in
                HTTPResponse(
                    .created,
                    fields: request.method == .post && request.target.hasPrefix("/rest/")
                        ? ["location": "/shop/messages/17?x=y"] : [:])
            }
        }
        return CommandLineAudit(Unprefixed(router: router), store: storage, time: time, ownUser: user)
    }

    /// Serves the hubs' API below `/rest`, as the admin socket does.
    private struct Unprefixed: HTTPHandler {
        let router: Router

        func route(for head: HTTPRequest) -> HTTPRoute {
            var head = head
            if head.target.hasPrefix("/rest/") { head.target.removeFirst(5) }
            return router.route(for: head)
        }
    }

    private func entries() async throws -> [String] {
        try await storage.actions(OperatorActionQuery(limit: 100)).reversed().map { _, entry in
            [
                entry.operatorName, entry.address, entry.action, entry.hub ?? "-", entry.subject ?? "-",
                entry.answer.map(String.init) ?? "-",
            ].joined(separator: "|")
        }
    }

    @Test func aChangeIsRecordedWithTheUserOfTheProcess() async throws {
        var request = HTTPRequest(.put, "/hubs/shop/limits", authority: "localhost")
        request.connection = HTTPConnection(id: 1, peer: "", isSecure: false, user: 1000)
        #expect(await handler().respond(to: request).status == .created)
        request = HTTPRequest(.put, "/hubs/shop", authority: "localhost")
        _ = await handler(user: 0).respond(to: request)
        #expect(
            try await entries() == [
                "command line|uid 1000|PUT /hubs/{hub}/limits|shop|-|201",
                "command line|uid 0|PUT /hubs/{hub}|shop|-|201",
            ])
        #expect(!Operator.isName(CommandLineAudit.name))
    }

    @Test func theSubjectIsWhatTheChangeIsAbout() async throws {
        let handler = handler()
        for (method, target, body) in [
            (HTTPMethod.post, "/operators", #"{"name": "kim"}"#), (.delete, "/users/alice", ""),
            (.post, "/rest/shop/messages?api-version=2020-06", "hello"),
            (.delete, "/rest/shop/installations/phone", ""),
        ] {
            _ = await handler.respond(
                to: HTTPRequest(method, target, authority: "localhost", body: Array(body.utf8)))
        }
        #expect(
            try await entries().map { $0.split(separator: "|").dropFirst().joined(separator: "|") } == [
                "POST /operators|-|kim|201", "DELETE /users/{name}|-|alice|201",
                "POST /rest/{hub}/messages|shop|17|201", "DELETE /rest/{hub}/installations/{id}|shop|phone|201",
            ])
    }

    @Test func hubsAndJobsAreRecordedAlsoThroughTheAPIOfHubs() async throws {
        for (method, target) in [
            (HTTPMethod.put, "/rest/shop"), (.delete, "/rest/shop?dryRun"), (.post, "/rest/shop/jobs"),
        ] {
            _ = await handler().respond(to: HTTPRequest(method, target, authority: "localhost"))
        }
        #expect(
            try await entries().map { $0.split(separator: "|").dropFirst().joined(separator: "|") } == [
                "PUT /rest/{hub}|shop|-|201", "DELETE /rest/{hub}|shop|-|201", "POST /rest/{hub}/jobs|shop|-|201",
            ])
    }

    @Test(arguments: [
        ("/rest/shop/messages?test", "everybody"), ("/rest/shop/messages?test&direct", "1 handle"),
        ("/rest/shop/messages/$batch?test", "handles"),
    ])
    func aTestWithoutTagsTellsToWhomItGoes(target: String, audience: String) async throws {
        _ = await handler().respond(to: HTTPRequest(.post, target, authority: "localhost"))
        #expect(try await entries().first?.contains(" → \(audience)|") == true)
    }

    @Test func aTestSendLeavesADigestOfItsTextAndItsAudience() async throws {
        let request = HTTPRequest(
            .post, "/rest/shop/messages?test", authority: "localhost",
            fields: ["servicebusnotification-tags": "testers"],
            body: Array("hello".utf8))
        _ = await handler().respond(to: request)
        let entry = try #require(try await storage.actions(OperatorActionQuery(limit: 1)).first?.1)
        #expect(entry.action == "POST /rest/{hub}/messages?test")
        #expect(entry.subject == "sha256:2cf24dba5fb0a30e → testers")
    }

    @Test func readingsDryRunsAndRegistrationsAreNoChangesOfOperators() async throws {
        for (method, target) in [
            (HTTPMethod.get, "/hubs/shop"), (.post, "/hubs/shop/devices/search"), (.post, "/rest/shop/messages?dryRun"),
            (.put, "/rest/shop/installations/phone"), (.put, "/nowhere/else"),
            (.post, "/rest/shop/messages/$batch?dryRun"), (.post, "/rest/shop/schedulednotifications?dryrun=1"),
            (.put, "/rest/shop/schedulednotifications/17?dryRun&test"),
        ] {
            _ = await handler().respond(to: HTTPRequest(method, target, authority: "localhost"))
        }
        #expect(try await entries().isEmpty)
    }

    @Test(
        "A route without dry runs is recorded, whatever the query says",
        arguments: [
            (HTTPMethod.delete, "/rest/shop/schedulednotifications/17", "17"), (.put, "/rest/shop/sending", "-"),
            (.delete, "/rest/shop/installations/phone", "phone"), (.delete, "/rest/shop/registrations/9", "9"),
        ])
    func nothingIsHiddenByADryRunThatDoesNotExist(method: HTTPMethod, path: String, subject: String) async throws {
        _ = await handler().respond(to: HTTPRequest(method, path + "?dryRun", authority: "localhost"))
        let entry = try #require(try await entries().first)
        #expect(entry.hasSuffix("|shop|\(subject)|201"))
    }

    @Test func aScheduleHasNoTestAndIsRecordedWithItsID() async throws {
        let handler = handler()
        for (method, target) in [
            (HTTPMethod.post, "/rest/shop/schedulednotifications?test"),
            (.put, "/rest/shop/schedulednotifications/17?test"),
        ] {
            _ = await handler.respond(to: HTTPRequest(method, target, authority: "localhost", body: Array("x".utf8)))
        }
        #expect(
            try await entries().map { $0.split(separator: "|").dropFirst().joined(separator: "|") } == [
                "POST /rest/{hub}/schedulednotifications|shop|17|201",
                "PUT /rest/{hub}/schedulednotifications/{id}|shop|17|201",
            ])
    }

    @Test(arguments: [
        ("/rest/shop/messages?test", "false"), ("/rest/shop/messages/$batch?test=true", "false"),
        ("/rest/shop/messages", "True"),
    ])
    func aTestSendIsKnownByQueryAndHeader(target: String, header: String) async throws {
        let fields: HTTPFields = ["servicebusnotification-testsend": header]
        _ = await handler().respond(to: HTTPRequest(.post, target, authority: "localhost", fields: fields))
        let entry = try #require(try await storage.actions(OperatorActionQuery(limit: 1)).first?.1)
        #expect(entry.action.hasSuffix("?test") && entry.subject?.hasPrefix("sha256:") == true)
    }

    @Test func whoseRoleWasChangedIsRecordedAlsoForTheLongestName() async throws {
        let name = String(repeating: "a", count: 256)
        _ = await handler().respond(to: HTTPRequest(.put, "/users/\(name)/roles/admin", authority: "localhost"))
        #expect(try await entries().first?.hasSuffix("|-|\(name) admin|201") == true)
    }

    @Test func aMigrationIsOneEntryAnHour() async throws {
        let handler = handler()
        for seconds: Int64 in [0, 10, 3000, 600] {
            time.advance(by: .seconds(seconds))
            _ = await handler.respond(to: HTTPRequest(.post, "/hubs/shop/migration/page", authority: "localhost"))
        }
        #expect(try await entries().count == 2)
        #expect(try await entries().first?.contains("POST /hubs/{hub}/migration|shop") == true)
    }
}
