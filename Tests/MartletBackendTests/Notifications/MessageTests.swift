import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletBackend

/// One message from a user to others, on all platforms.
struct MessageTests {
    private func send(_ fixture: Fixture, _ body: String, as user: String = "bob") async -> HTTPResponse {
        await fixture.ask(.post, "/api/notifications/message", as: user, body)
    }

    @Test func aMessageReachesEveryDeviceOfItsUsersWithTheSendersName() async throws {
        let fixture = try await Fixture()
        _ = try await fixture.register("alice1", as: "alice")
        _ = try await fixture.register("bob1", as: "bob")
        let response = await send(
            fixture,
            #"{"to": ["Alice"], "message": {"text": {"en": "hello", "de": "hallo"}, "language": "en", "data": {"a": "b"}, "thread": "t"}}"#
        )
        #expect(response.status == .created)
        let delivery = try #require(fixture.sent.deliveries.first)
        #expect(try response.json["id"]?.string == delivery.notification.id.description)
        #expect(try await fixture.audience(of: delivery) == ["alice1"])
        let message = try JSON(parsing: delivery.notification.content.body)
        #expect(message["title"] == "bob")
        #expect(message["text"]?["de"] == "hallo")
    }

    @Test(arguments: ["dryRun", "dry-run", "test"])
    func noSendOfUsersIsADryRunOrATest(item: String) async throws {
        let fixture = try await Fixture()
        _ = try await fixture.register("alice1", as: "alice")
        for (path, body) in [
            ("message?", #"{"to": "alice", "message": {"text": "x"}}"#),
            ("secure?", #"{"to": "alice", "payload": "x"}"#), ("rich?", #"{"to": "alice", "payload": "eA=="}"#),
            ("encrypted?", #"{"to": "alice", "ciphertexts": []}"#),
        ] {
            let response = await fixture.ask(.post, "/api/notifications/\(path)\(item)", as: "bob", body)
            #expect(response.status == .badRequest)
            #expect(response.message.contains("leave out the query item '\(item)'; nothing was done."))
        }
        let text = await fixture.ask(
            .post, "/api/notifications?pns=pigeon&to_tag=alice&\(item)", as: "bob", #""hello""#)
        #expect(text.status == .badRequest)
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test func aDevicesLanguageIsATagOfItsRegistration() async throws {
        let fixture = try await Fixture()
        let id = try await fixture.newID(as: "alice")
        let body = #"{"Platform": "pigeon", "Handle": "a", "Tags": ["x"], "Language": "de-AT"}"#
        #expect(await fixture.ask(.put, "/api/register/\(id)", as: "alice", body).status == .ok)
        let tags = try #require(try await fixture.registration(id)).tags.map(\.spelling)
        #expect(tags.contains("lang:de-AT") && tags.contains("x"))
        let wrong = body.replacing("de-AT", with: "German!")
        #expect(await fixture.ask(.put, "/api/register/\(id)", as: "alice", wrong).status == .badRequest)
    }

    @Test(
        "Who is no admin cannot set what could be bait",
        arguments: ["title", "subtitle", "link", "picture", "actions", "collapse", "priority", "platforms", "tittle"])
    func onlyAdminsMaySet(member: String) async throws {
        let fixture = try await Fixture()
        let response = await send(fixture, #"{"to": "alice", "message": {"text": "x", "\#(member)": "y"}}"#)
        #expect(response.status == .forbidden)
        #expect(response.message == "Only admins may set \(member).")
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test(arguments: PayloadName.allCases, ["bob", "root"])
    func dataCannotUseReservedPayloadNames(name: PayloadName, sender: String) async throws {
        let fixture = try await Fixture()
        try await fixture.users.add("root", password: "root1", roles: ["admin"])
        for spelling in [name.rawValue, name.rawValue.uppercased(), name.rawValue.lowercased()] {
            let response = await send(
                fixture, #"{"to": "alice", "message": {"text": "x", "data": {"\#(spelling)": "7"}}}"#, as: sender)
            #expect(response.status == .badRequest)
            #expect(
                response.message == "The message's data has the name '\(spelling)', which is reserved for payloads.")
        }
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test(arguments: ["image", "icon", "URL", "click_action", "clickAction", "body", "tag", "android_channel_id"])
    func namesThatServicesAndPagesReadAreForAdmins(name: String) async throws {
        let fixture = try await Fixture()
        _ = try await fixture.register("alice1", as: "alice")
        try await fixture.users.add("root", password: "root1", roles: ["admin"])
        let body = #"{"to": "alice", "message": {"text": "x", "data": {"\#(name)": "7"}}}"#
        let response = await send(fixture, body)
        #expect(response.status == .forbidden)
        #expect(response.message == "Only admins may set data.\(name).")
        #expect(fixture.sent.deliveries.isEmpty)
        #expect(await send(fixture, body, as: "root").status == .created)
    }

    @Test(arguments: [
        (#"{"to": "alice"}"#, "The body needs the member \"message\" with a JSON object."),
        (#"{"to": "alice", "message": "x"}"#, "The body needs the member \"message\" with a JSON object."),
        (#"{"too": "alice", "message": {"text": "x"}}"#, "The body has the unknown member 'too'."),
        (#"{"to": "alice", "message": {}}"#, nil),
        (
            #"{"to": "alice", "message": {"text": {"de": "x"}}}"#,
            "The message's text has languages, so the message needs the member language, for all other devices."
        ),
        ("[]", "The body must be a JSON object."),
        (#"{"to": ["a||b"], "message": {"text": "x"}}"#, "*"),
    ])
    func isRefused(body: String, sentence: String?) async throws {
        let fixture = try await Fixture()
        let response = await send(fixture, body)
        guard let sentence else {
            // The sender's name is a title.
            #expect(response.status == .created)
            return
        }
        #expect(response.status == .badRequest)
        #expect(sentence == "*" || response.message == sentence)
    }
}
