import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

/// Whom payloads are for, and who may say so.
struct AudienceTests {
    /// Everybody may do everything.
    struct Open: SendPolicy {
        func allows(_ caller: Caller, toSendTo audience: SendAudience) -> Bool { true }
    }

    @Test func aUserWhomNobodyKnowsIsAnsweredAsAnyOther() async throws {
        let fixture = try await Fixture()
        let known = await fixture.sendJSON("secure", ["to": "alice", "payload": "x"], as: "bob")
        let unknown = await fixture.sendJSON("secure", ["to": "zoe", "payload": "x"], as: "bob")
        #expect(known.status == unknown.status)
        #expect(try known.json.object?.keys.sorted() == unknown.json.object?.keys.sorted())
        #expect(fixture.pushes.count == 2)
    }

    @Test func aLaterUserWithTheSameNameIsNoRecipient() async throws {
        let fixture = try await Fixture()
        let id = try #require(await fixture.sendJSON("secure", ["to": "zoe", "payload": "x"], as: "bob").payloadID)
        fixture.time.advance(by: .seconds(1))
        try await fixture.users.add("zoe", password: "zoe1")
        #expect(await fixture.ask(.get, "/api/notifications/\(id)", as: "zoe").status == .notFound)
    }

    @Test func tagsAreNotForEverybody() async throws {
        let fixture = try await Fixture()
        for kind in ["rich", "secure"] {
            let response = await fixture.sendJSON(kind, ["tags": "news", "payload": "AA=="], as: "bob")
            #expect(response.status == .forbidden)
            #expect(try response.json["code"]?.integer == 40300)
        }
        #expect(await fixture.sendRich(Form(("tags", "news"), file: [1]), as: "bob").status == .forbidden)
        #expect(fixture.sent.deliveries.isEmpty)
        #expect(try fixture.bodies.isEmpty)
    }

    @Test func whereUsersMayNotSendNothingGoesOut() async throws {
        let fixture = try await Fixture(settings: BackendSettings(policy: RolePolicy(usersMaySend: false)))
        #expect(await fixture.sendJSON("secure", ["to": "alice", "payload": "x"], as: "bob").status == .forbidden)
        #expect(await fixture.sendRich(Form(("to", "alice"), file: [1]), as: "bob").status == .forbidden)
        #expect(try fixture.bodies.isEmpty)
    }

    @Test func tagsReachTheUsersWhoseChannelsTheyMatchWhenItIsSent() async throws {
        let fixture = try await Fixture(settings: BackendSettings(policy: Open()))
        try await fixture.users.add("Zoë", password: "zoë1")
        _ = try await fixture.register("alices", as: "alice", tags: ["news"])
        _ = try await fixture.register("alices2", as: "alice")
        _ = try await fixture.register("bobs", as: "bob", tags: ["news", "beta"])
        _ = try await fixture.register("zoes", as: "zoë", tags: ["NEWS"])
        let body: JSON = ["tags": "news && !beta", "payload": "x"]
        let id = try #require(await fixture.sendJSON("secure", body, as: "carol").payloadID)
        #expect(fixture.sent.deliveries.count == 1)
        #expect(try await fixture.audience(of: fixture.sent.deliveries[0]) == ["alices", "zoes"])
        let late = try await fixture.register("carols", as: "carol", tags: ["news"])
        #expect(try await fixture.registration(late) != nil)
        let readers = await fixture.ask(.get, "/api/notifications/\(id)/readers", as: "carol")
        #expect(try readers.json["readers"]?.array?.compactMap { $0["user"]?.string } == ["alice", "zoë"])
        #expect(await fixture.ask(.get, "/api/notifications/\(id)", as: "zoë").status == .ok)
        for other in ["bob", "carol"] {
            #expect(await fixture.ask(.get, "/api/notifications/\(id)", as: other).status == .notFound)
        }
    }

    @Test(arguments: ["a b", "a ||", "(a", "", "a && b && c && d && e && f && g"])
    func anExpressionThatIsNoneIsRefused(tags: String) async throws {
        let fixture = try await Fixture(settings: BackendSettings(policy: Open()))
        let response = await fixture.sendJSON("secure", ["tags": .string(tags), "payload": "x"], as: "bob")
        #expect(response.status == .badRequest)
        #expect(response.message.hasSuffix("."))
    }

    @Test(arguments: ["alice", "Zoë", "o'neil+x", "a#b", "王", "a.b-c_d@example.org"])
    func aTagIsReadBackAsItsUser(name: String) throws {
        let user = try UserName(name)
        #expect(UserName(tag: user.tag)?.folded == user.folded)
        #expect(UserName(tag: user.fromTag) == nil)
    }

    @Test(arguments: [
        "username:", "username:#", "username:#6", "username:#61", "username:#zz", "username:#ff", "username:a:b",
        "username:#-1", "alice",
    ])
    func aTagThatNobodyWasGivenIsNoUsers(tag: String) throws {
        #expect(UserName(tag: try Tag(tag)) == nil)
    }
}
